// Encoding — every way a checkpoint stores the numbers of a matrix, logical element by logical element.
//
// Spec       model.md 2 and 4, quant_formats.md "matrix formats"
#pragma once

#include <cstdint>
#include <string_view>

namespace manyspan {

enum class Encoding : std::uint8_t {
  f32,
  f16,
  bf16,
  fp8_block32,   // E4M3, one E8M0 scale for each 32x32 block: scales [⌈rows/32⌉][⌈cols/32⌉]
  fp8_block128,  // E4M3, one scale (E8M0, or F32 holding a power of two) for each 128x128 block
  mxfp8,         // E4M3, one E8M0 scale for each row and 32 columns: scales [rows][⌈cols/32⌉]
  mxfp4,         // E2M1, two columns a byte (even one low), scales as mxfp8
};

constexpr std::string_view name(Encoding encoding) {
  switch (encoding) {
    case Encoding::f32:
      return "F32";
    case Encoding::f16:
      return "F16";
    case Encoding::bf16:
      return "BF16";
    case Encoding::fp8_block32:
      return "FP8 32x32";
    case Encoding::fp8_block128:
      return "FP8 128x128";
    case Encoding::mxfp8:
      return "MXFP8";
    case Encoding::mxfp4:
      return "MXFP4";
  }
  return "unknown";
}

// Bits of one code, scales not counted.
constexpr int code_bits(Encoding encoding) {
  switch (encoding) {
    case Encoding::f32:
      return 32;
    case Encoding::f16:
    case Encoding::bf16:
      return 16;
    case Encoding::fp8_block32:
    case Encoding::fp8_block128:
    case Encoding::mxfp8:
      return 8;
    case Encoding::mxfp4:
      return 4;
  }
  return 0;
}

}  // namespace manyspan
