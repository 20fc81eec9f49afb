// e8m0 — a power of two in one byte: 2^(code - 127); 255 is NaN, there is no zero and no sign.
//
// Spec       model.md 4.1; quant_formats.md "scalars"
#pragma once

#include <bit>
#include <cstdint>

#include "tensor/portable.h"

namespace manyspan {

inline constexpr std::uint8_t kE8m0Nan = 255;

MANYSPAN_PORTABLE inline float e8m0_to_float(std::uint8_t code) {
  if (code == kE8m0Nan) return std::bit_cast<float>(0x7fc00000u);
  return std::bit_cast<float>(code == 0 ? 0x00400000u : static_cast<std::uint32_t>(code) << 23);
}

// The code of 2^⌈log2 r⌉ for r > 0, on bits, from 0 (2^-127) to 254 (2^127).
MANYSPAN_PORTABLE inline std::uint8_t e8m0_ceil(float r) {
  const std::uint32_t u = std::bit_cast<std::uint32_t>(r);
  if (u <= 0x00400000u) return 0;  // 2^-127 and below
  const std::uint32_t code = (u >> 23) + ((u & 0x7fffffu) != 0);
  return static_cast<std::uint8_t>(code > 254 ? 254 : code);
}

}  // namespace manyspan
