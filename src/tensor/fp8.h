// fp8 — E4M3, the kind with no infinity: bias 7, largest 448, 0x7f and 0xff are NaN.
//
// Numerics   decoding is exact; encoding rounds to nearest, ties to even, and saturates at ±448
// Spec       model.md 4.1, 4.2; quant_formats.md "scalars"
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "tensor/portable.h"

namespace manyspan {

inline constexpr float kFp8Max = 448;

MANYSPAN_PORTABLE inline float fp8_to_float(std::uint8_t code) {
  const std::uint32_t magnitude = code & 0x7fu, sign = (code & 0x80u) << 24;
  if (magnitude == 0x7f) return std::bit_cast<float>(0x7fc00000u | sign);
  if (magnitude < 8) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * 0x1p-9f) | sign);
  }
  return std::bit_cast<float>(((magnitude << 20) + (120u << 23)) | sign);
}

MANYSPAN_PORTABLE inline std::uint8_t float_to_fp8(float x) {
  const std::uint32_t u = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = (u >> 24) & 0x80u, magnitude = u & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7f;
  if (magnitude >= 0x43e00000u) return static_cast<std::uint8_t>(sign | 0x7e);  // 448 and above
  if (magnitude < 0x3c800000u) {                                                // below 2^-6: steps of 2^-9
    // Adding 2^14 leaves a step of 2^-9, so the hardware rounds to nearest even for us.
    const float rounded = std::bit_cast<float>(magnitude) + 0x1p14f;
    return static_cast<std::uint8_t>(sign | (std::bit_cast<std::uint32_t>(rounded) & 0xfu));
  }
  const std::uint32_t rounded = magnitude + 0x7ffffu + ((magnitude >> 20) & 1u);
  const std::uint32_t code = (rounded >> 20) - (120u << 3);
  return static_cast<std::uint8_t>(sign | (code > 0x7e ? 0x7e : code));
}

}  // namespace manyspan
