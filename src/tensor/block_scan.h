// block_scan — the first block of a matrix whose scale or code is no number, or whose numbers F32 does not hold.
//
// Scales in F16 must be finite, E8M0 and E4M3 ones no NaN, and no power of two so large that its product with the
// largest code overflows; E4M3 codes must be no NaN.
//
// Threads    pure
// Cost       reads the scales of every block, and of E4M3 every code
// Spec       quant_formats.md 1 "strict mode"
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "tensor/encoding.h"

namespace manyspan {

struct BadBlock {
  std::int64_t block;     // counted over all rows
  std::string_view what;  // "its scale is NaN"
};

// Requires is_blocks(e). What lies behind the last whole block is not looked at.
std::optional<BadBlock> first_bad_block(Encoding e, std::span<const std::byte> bytes);

}  // namespace manyspan
