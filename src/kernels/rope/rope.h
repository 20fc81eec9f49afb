// rope — rotates adjacent pairs of the last columns of a row by the angle of its position, or back.
//
//   (a, b) → (a cos − b sin, a sin + b cos),  angle = f32(position) · frequency, one f32 product
//
// A function of the reference, not a row of the table: attend, select and remember rotate on the way in.
//
// Shapes     x [dims] bf16, the last `dims` columns of a row · frequency [dims / 2] f32
// Numerics   cos and sin of the f32 angle in double, rounded to f32; each result in double → f32 → bf16
// Spec       model.md 5
#pragma once

#include <cstdint>

#include "tensor/bf16.h"

namespace manyspan::kernels {

struct Rope {
  const float* frequency;  // [dims / 2]
  std::int32_t dims;       // even
};

void rope_row(const Rope& rope, std::int64_t position, bool inverse, Bf16* x);

}  // namespace manyspan::kernels
