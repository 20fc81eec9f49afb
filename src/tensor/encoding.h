// Encoding — every way a checkpoint stores the numbers of a matrix, logical element by logical element.
//
// Three families: numbers; codes with their scales in a plane of their own; and rows of blocks, each a run of
// columns with its scales beside its codes (tensor/blocks.h says what their bytes mean).
//
// Spec       model.md 2 and 4, quant_formats.md 3, 4 and 6
#pragma once

#include <cstdint>
#include <string_view>

namespace manyspan {

enum class Encoding : std::uint8_t {
  f32,
  f16,
  bf16,
  fp8_block32,       // E4M3, one E8M0 scale for each 32x32 block: scales [⌈rows/32⌉][⌈cols/32⌉]
  fp8_block128,      // E4M3, one scale (E8M0, or F32 holding a power of two) for each 128x128 block
  fp8_block128_f32,  // the same with F32 scales of any worth: each product rounds
  mxfp8,             // E4M3, one E8M0 scale for each row and 32 columns: scales [rows][⌈cols/32⌉]
  mxfp4,             // E2M1, two columns a byte (even one low), scales as mxfp8
  nvfp4,             // E2M1 as mxfp4, one E4M3 scale for each row and 16 columns, one F32 factor for each row
  q4_0,
  q8_0,
  q2_k,
  q3_k,
  q4_k,
  q5_k,
  q6_k,
  iq2_xxs,
  iq3_xxs,
  iq3_s,
  iq4_nl,
  iq4_xs,
  mxfp4_ggml,
  nvfp4_ggml,  // and one F32 factor for each row, which is no part of the blocks
  fp8_b128,    // E8M0, then 128 E4M3
  mxfp8_b256,  // eight E8M0, then 256 E4M3
  row264,      // 256 E4M3, then eight E8M0
};
inline constexpr int kEncodings = 26;

struct EncodingFacts {
  std::string_view name;
  int code_bits;                // of one code, scales not counted; 0: blocks
  int block_cols, block_bytes;  // 0: no blocks
};

constexpr EncodingFacts facts(Encoding encoding) {
  constexpr EncodingFacts kFacts[kEncodings] = {
      {"F32", 32, 0, 0},           {"F16", 16, 0, 0},           {"BF16", 16, 0, 0},
      {"FP8 32x32", 8, 0, 0},      {"FP8 128x128", 8, 0, 0},    {"FP8 128x128 by F32", 8, 0, 0},
      {"MXFP8", 8, 0, 0},          {"MXFP4", 4, 0, 0},          {"NVFP4", 4, 0, 0},
      {"Q4_0", 0, 32, 18},         {"Q8_0", 0, 32, 34},         {"Q2_K", 0, 256, 84},
      {"Q3_K", 0, 256, 110},       {"Q4_K", 0, 256, 144},       {"Q5_K", 0, 256, 176},
      {"Q6_K", 0, 256, 210},       {"IQ2_XXS", 0, 256, 66},     {"IQ3_XXS", 0, 256, 98},
      {"IQ3_S", 0, 256, 110},      {"IQ4_NL", 0, 32, 18},       {"IQ4_XS", 0, 256, 136},
      {"MXFP4 blocks", 0, 32, 17}, {"NVFP4 blocks", 0, 64, 36}, {"F8_E4M3_B128", 0, 128, 129},
      {"MXFP8_B256", 0, 256, 264}, {"row264", 0, 256, 264},
  };
  return kFacts[static_cast<int>(encoding)];
}

constexpr std::string_view name(Encoding encoding) { return facts(encoding).name; }
constexpr int code_bits(Encoding encoding) { return facts(encoding).code_bits; }
constexpr bool is_blocks(Encoding encoding) { return facts(encoding).block_cols != 0; }
constexpr int block_cols(Encoding encoding) { return facts(encoding).block_cols; }
constexpr int block_bytes(Encoding encoding) { return facts(encoding).block_bytes; }

}  // namespace manyspan
