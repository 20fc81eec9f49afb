// matrix_scan — whether a stored matrix holds a number that is none, or a scale that makes one.
//
// Spec       quant_formats.md 1 "strict mode"
#pragma once

#include <optional>
#include <string>

#include "weights/weights.h"

namespace manyspan {

struct BadNumber {
  bool in_scales;    // else among the codes
  std::string what;  // "code 3 is NaN"
};

// Reads the matrix through, 4-bit codes left out.
std::optional<BadNumber> first_bad_number(const MatrixSource& source);

// A factor that is no number, or whose product with the largest number of its encoding F32 does not hold.
bool bad_factor(Encoding encoding, float factor);

}  // namespace manyspan
