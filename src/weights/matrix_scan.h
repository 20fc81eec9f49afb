// matrix_scan — whether part of a stored matrix holds a number that is none, or a scale that makes one.
//
// Threads    pure
// Spec       quant_formats.md 1 "strict mode"
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "weights/weights.h"

namespace manyspan {

struct BadNumber {
  std::uint64_t at;  // from the part's begin, counted in what it is
  std::string_view kind;
  std::string what;  // " is NaN": "code 3 is NaN" where `kind` is "code" and the part begins at the first one
};

// Bytes of what a plane consists of, which a part must not cut: a number, a scale or a block.
int unit_bytes(const MatrixSource& matrix, Plane plane);

// `part`: whole units of the plane. 4-bit codes are numbers all.
std::optional<BadNumber> first_bad_number(const MatrixSource& matrix, Plane plane,
                                          std::span<const std::byte> part);

// A factor that is no number, or whose product with the largest number of its encoding F32 does not hold.
bool bad_factor(Encoding encoding, float factor);

}  // namespace manyspan
