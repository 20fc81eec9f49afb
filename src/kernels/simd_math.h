// simd_math — exp and the sigmoid of sixteen lanes, and a row's mean of squares.
//
// Numerics   exp is within about 1.5 units in the last place for results that are normal numbers; each lane
//            alone. A mean's order is a function of the row's length only.
#pragma once

#include <cmath>

#include "kernels/simd.h"

namespace manyspan::kernels::MANYSPAN_ISA {

MANYSPAN_INLINE F exp(F x) {
  x = max(min(x, all(88.722832f)), all(-104.0f));
  const F magic = all(12582912.0f);  // 1.5·2^23: adding it leaves a whole number in the low bits
  const F t = fma(x, all(1.44269504088896341f), magic);
  const F n = t - magic;
  F r = fma(n, all(-0.693359375f), x);  // few bits, so the product is exact
  r = fma(n, all(2.12194440e-4f), r);
  F p = all(1.9875691500e-4f);
  p = fma(p, r, all(1.3981999507e-3f));
  p = fma(p, r, all(8.3334519073e-3f));
  p = fma(p, r, all(4.1665795894e-2f));
  p = fma(p, r, all(1.6666665459e-1f));
  p = fma(p, r, all(5.0000001201e-1f));
  p = fma(p, r * r, r) + all(1.0f);
  // In two steps, since 2^n alone may be no normal number while the result is one.
  const I whole = to_int(n);
  const I half = shift_right<1>(whole + all(256)) - all(128);
  const F a = from_bits(shift_left<23>(half + all(127)));
  const F b = from_bits(shift_left<23>(whole - half + all(127)));
  return p * a * b;
}

MANYSPAN_INLINE F sigmoid(F x) { return all(1.0f) / (all(1.0f) + exp(zero() - x)); }

// One number by the same steps as a lane.
MANYSPAN_INLINE float sigmoid(float x) {
  float lanes[kLanes];
  store(sigmoid(all(x)), lanes);
  return lanes[0];
}

// 1/√(mean of squares + eps); `at(column)` gives sixteen columns, zero past the end.
template <class At>
MANYSPAN_INLINE float inverse_rms(std::int64_t n, float eps, At&& at) {
  F s[4] = {zero(), zero(), zero(), zero()};
  std::int64_t c = 0;
  for (; c + 4 * kLanes <= n; c += 4 * kLanes) {
    for (int i = 0; i < 4; ++i) {
      const F x = at(c + i * kLanes);
      s[i] = fma(x, x, s[i]);
    }
  }
  for (int i = 0; c < n; c += kLanes, ++i) {
    const F x = at(c);
    s[i] = fma(x, x, s[i]);
  }
  const float mean = sum((s[0] + s[1]) + (s[2] + s[3])) / static_cast<float>(n);
  return 1.0f / std::sqrt(mean + eps);
}

}  // namespace manyspan::kernels::MANYSPAN_ISA
