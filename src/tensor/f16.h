// f16 — IEEE half precision: checkpoints may hold it, no kernel computes with it.
//
// Numerics   decoding is exact; encoding rounds to nearest, ties to even, and what is 65520 or more becomes infinite
// Spec       quant_formats.md "scalars"
#pragma once

#include <bit>
#include <cstdint>

#include "tensor/portable.h"

namespace manyspan {

MANYSPAN_PORTABLE inline float f16_to_float(std::uint16_t code) {
  const std::uint32_t sign = (code & 0x8000u) << 16, exponent = (code >> 10) & 31u, mantissa = code & 0x3ffu;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
  }
  const std::uint32_t wide = exponent == 31 ? 255u : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23 | mantissa << 13);
}

inline std::uint16_t float_to_f16(float x) {
  const std::uint32_t u = std::bit_cast<std::uint32_t>(x), sign = (u >> 16) & 0x8000u,
                      magnitude = u & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {  // below 2^-14: steps of 2^-24
    // Adding 0.5 leaves a step of 2^-24, so the hardware rounds to nearest even for us.
    const float rounded = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(rounded) & 0x7ffu));
  }
  const std::uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<std::uint16_t>(sign | ((rounded >> 13) - (112u << 10)));
}

}  // namespace manyspan
