// simd_rope — rope.h's rotation of a row that is held as f32: one pair of angles a position, many rows.
//
// Numerics   the angle is one f32 product; cos and sin in double → f32, as the reference; each result in f32
#pragma once

#include <cmath>

#include "kernels/rope/rope.h"
#include "kernels/simd_grid.h"

namespace manyspan::kernels::MANYSPAN_ISA {

inline constexpr int kMostRopeDims = 256;

class Turning {
 public:
  MANYSPAN_INLINE Turning(const Rope& rope, std::int64_t position) : pairs_(rope.dims / 2) {
    for (int i = 0; i < pairs_; ++i) {
      const float angle = static_cast<float>(position) * rope.frequency[i];
      double s, c;
      ::sincos(static_cast<double>(angle), &s, &c);
      cos_[i] = static_cast<float>(c);
      sin_[i] = static_cast<float>(s);
    }
  }

  // x [dims], the last columns of a row, bf16 values; left rounded to bf16.
  MANYSPAN_INLINE void turn(float* x) const { rotate(x, 1.0f); }
  MANYSPAN_INLINE void turn_back(float* x) const { rotate(x, -1.0f); }

 private:
  MANYSPAN_INLINE void rotate(float* x, float direction) const {
    for (int i = 0; i < pairs_; ++i) {
      const double a = x[2 * i], b = x[2 * i + 1];
      const double c = cos_[i], s = sin_[i] * direction;
      x[2 * i] = nearest_bf16(static_cast<float>(a * c - b * s));
      x[2 * i + 1] = nearest_bf16(static_cast<float>(a * s + b * c));
    }
  }
  MANYSPAN_INLINE static float nearest_bf16(float x) {
    const std::uint32_t u = raw(x);
    return from_raw((u + 0x7fffu + ((u >> 16) & 1u)) & 0xffff0000u);
  }

  int pairs_;
  float cos_[kMostRopeDims / 2], sin_[kMostRopeDims / 2];
};

}  // namespace manyspan::kernels::MANYSPAN_ISA
