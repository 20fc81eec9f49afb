// rms_norm — y = bf16(gain · (x · rsqrt(mean x² + eps))), a row at a time.
//
// A function of the reference, not a row of the table. y may be x.
//
// Shapes     x, gain, y [n] bf16
// Numerics   mean in double → f32, + eps in f32, 1/√ in double → f32, each product in f32
// Spec       model.md 4.7; oracle recipe item 2
#pragma once

#include <cstdint>

#include "tensor/bf16.h"

namespace manyspan::kernels {

float inverse_rms(const Bf16* x, std::int64_t n, float eps);
void norm_row(const Bf16* x, const Bf16* gain, float eps, std::int64_t n, Bf16* y);

}  // namespace manyspan::kernels
