// fp4 — E2M1: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives; code 8 is -0.
//
// Numerics   decoding is exact; encoding rounds to nearest, ties to the even code, and saturates at ±6
// Spec       model.md 4.5; quant_formats.md "scalars"
#pragma once

#include <bit>
#include <cstdint>

#include "tensor/portable.h"

namespace manyspan {

inline constexpr float kFp4Max = 6;

MANYSPAN_PORTABLE inline float fp4_to_float(unsigned code) {
  constexpr float kMagnitude[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  const float magnitude = kMagnitude[code & 7u];
  return (code & 8u) != 0 ? -magnitude : magnitude;
}

MANYSPAN_PORTABLE inline unsigned float_to_fp4(float x) {
  const std::uint32_t u = std::bit_cast<std::uint32_t>(x);
  const float a = std::bit_cast<float>(u & 0x7fffffffu);
  unsigned code = 0;
  code += a > 0.25f;
  code += a >= 0.75f;
  code += a > 1.25f;
  code += a >= 1.75f;
  code += a > 2.5f;
  code += a >= 3.5f;
  code += a > 5.0f;
  return code | ((u >> 28) & 8u);
}

}  // namespace manyspan
