// quantise — rows of floats as blocks of fewer bits, each number rounded to the nearest that its block has.
//
//   Q8_0    d = F16(largest / 127);             code = nearest integer to x/d, -127 to 127
//   Q4_0    d = F16(largest with its sign / -8); code = nearest integer to x/d, -8 to 7
//   MXFP4   scale = largest / 6, rounded up to a power of two; code = nearest E2M1 to x/scale
//   F16, BF16   the nearest
//
// Ties go to the even code. `largest` is the number of greatest magnitude in the block of 32. A block whose d rounds to
// zero is zero.
//
// Errors     unsupported: a number or scale beyond what the type holds, with its column
// Threads    pure
// Spec       quant_formats.md 2 "Encoding", 3.1
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/result.h"
#include "container/stored_type.h"

namespace manyspan {

// MXFP4 as ggml's blocks.
std::span<const StoredType> quantisable_types();

// For messages: the shortest digits that give the same number.
std::string shown_number(float number);

// Requires whole blocks and room for them.
Result<void> quantise_row(StoredType type, std::span<const float> row, std::byte* out);

}  // namespace manyspan
