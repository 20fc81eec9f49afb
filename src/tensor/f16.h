// f16 — IEEE half precision, read only: checkpoints may hold it, no kernel computes with it.
//
// Numerics   decoding is exact
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

}  // namespace manyspan
