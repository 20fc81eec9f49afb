#include "tensor/blocks.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tensor/block_scan.h"
#include "tensor/e8m0.h"
#include "tensor/f16.h"
#include "tensor/fp8.h"
#include "tensor/weight.h"

namespace manyspan {
namespace {

using Bytes = std::vector<std::byte>;

Bytes unhex(const std::string& text) {
  Bytes out;
  for (std::size_t at = 0; at < text.size(); at += 2) {
    out.push_back(static_cast<std::byte>(std::stoul(text.substr(at, 2), nullptr, 16)));
  }
  return out;
}

std::vector<Encoding> all_blocks() {
  std::vector<Encoding> all;
  for (int e = 0; e < kEncodings; ++e) {
    if (is_blocks(static_cast<Encoding>(e))) all.push_back(static_cast<Encoding>(e));
  }
  return all;
}

const char* key_of(Encoding e) {
  if (e == Encoding::mxfp4_ggml) return "MXFP4";
  if (e == Encoding::nvfp4_ggml) return "NVFP4";
  return e == Encoding::row264 ? "E4M3_E8M0_32_ROW264" : name(e).data();
}

TEST(Blocks, EveryLayoutDecodesAsTheVectorsSay) {
  std::ifstream file(MANYSPAN_SOURCE_DIR "/tests/data/quant_vectors.json");
  const nlohmann::json blocks = nlohmann::json::parse(file)["blocks"];
  ASSERT_EQ(blocks.size(), 17u);
  ASSERT_EQ(all_blocks().size(), 17u);
  for (const Encoding e : all_blocks()) {
    const auto& layout = blocks.at(key_of(e));
    ASSERT_EQ(layout["elements"], block_cols(e)) << name(e);
    ASSERT_EQ(layout["bytes"], block_bytes(e)) << name(e);
    ASSERT_GE(layout["cases"].size(), 7u);
    for (const auto& one : layout["cases"]) {
      const Bytes bytes = unhex(one["hex"]);
      const std::string expected = one["f32"];
      ASSERT_EQ(static_cast<int>(bytes.size()), block_bytes(e));
      ASSERT_EQ(static_cast<int>(expected.size()), 8 * block_cols(e));
      std::vector<float> out(block_cols(e), -9.0f);
      decode_block(e, bytes.data(), out.data());
      for (int i = 0; i < block_cols(e); ++i) {
        const auto word = static_cast<std::uint32_t>(std::stoul(expected.substr(8 * i, 8), nullptr, 16));
        if (std::isnan(std::bit_cast<float>(word))) {
          EXPECT_TRUE(std::isnan(out[i])) << name(e) << " " << one["case"] << " " << i;
        } else {
          EXPECT_EQ(std::bit_cast<std::uint32_t>(out[i]), word) << name(e) << " " << one["case"] << " " << i;
        }
      }
    }
  }
}

TEST(Blocks, HandMadeOnesDecodeAsWorkedOutByHand) {
  float out[32];
  const Bytes mxfp4 = unhex("7f21436587a9cbed0f0000000000000000");
  decode_block(Encoding::mxfp4_ggml, mxfp4.data(), out);
  const float low[8] = {0.5f, 1.5f, 3, 6, -0.5f, -1.5f, -3, -6}, high[7] = {1, 2, 4, -0.0f, -1, -2, -4};
  for (int i = 0; i < 8; ++i) EXPECT_EQ(out[i], low[i]) << i;
  for (int i = 0; i < 7; ++i) EXPECT_EQ(out[16 + i], high[i]) << i;
  EXPECT_EQ(out[23], 0);
  Bytes q8(34);
  q8[1] = std::byte{0x3c}, q8[2] = std::byte{0x80}, q8[3] = std::byte{0x7f};
  decode_block(Encoding::q8_0, q8.data(), out);
  EXPECT_EQ(out[0], -128);
  EXPECT_EQ(out[1], 127);
}

// Where a block's scales lie, and what they are.
struct Scales {
  enum Kind { f16, e8m0, e4m3 } kind;
  std::vector<int> at;
};
Scales scales_of(Encoding e) {
  switch (e) {
    case Encoding::q2_k:
      return {Scales::f16, {80, 82}};
    case Encoding::q3_k:
      return {Scales::f16, {108}};
    case Encoding::q4_k:
    case Encoding::q5_k:
      return {Scales::f16, {0, 2}};
    case Encoding::q6_k:
      return {Scales::f16, {208}};
    case Encoding::mxfp4_ggml:
    case Encoding::fp8_b128:
      return {Scales::e8m0, {0}};
    case Encoding::mxfp8_b256:
      return {Scales::e8m0, {0, 1, 2, 3, 4, 5, 6, 7}};
    case Encoding::row264:
      return {Scales::e8m0, {256, 257, 258, 259, 260, 261, 262, 263}};
    case Encoding::nvfp4_ggml:
      return {Scales::e4m3, {0, 1, 2, 3}};
    default:
      return {Scales::f16, {0}};
  }
}

// Sets all scales of a block to 2^power.
void set_scales(Encoding e, int power, std::byte* block) {
  const Scales scales = scales_of(e);
  for (const int at : scales.at) {
    if (scales.kind == Scales::f16) {
      block[at] = std::byte{0}, block[at + 1] = std::byte((15 + power) << 2);
    } else {
      block[at] = scales.kind == Scales::e8m0 ? std::byte(127 + power) : std::byte((7 + power) << 3);
    }
  }
}

Bytes counting_block(Encoding e) {
  Bytes block(block_bytes(e));
  for (std::size_t i = 0; i < block.size(); ++i) {
    block[i] = std::byte(i * 37 + 11);
    if ((block[i] & std::byte{0x7f}) == std::byte{0x7f}) block[i] = std::byte{1};
  }
  return block;
}

// Two rows of two blocks that differ in nothing but their scales of 1, 2, 4 and 8.
TEST(Blocks, EachQuadrantHasItsOwnMultiplier) {
  for (const Encoding e : all_blocks()) {
    Bytes block = counting_block(e);
    set_scales(e, 0, block.data());
    std::vector<float> one(block_cols(e));
    decode_block(e, block.data(), one.data());
    Bytes codes;
    for (int i = 0; i < 4; ++i) {
      set_scales(e, i, block.data());
      codes.insert(codes.end(), block.begin(), block.end());
    }
    const float factors[2] = {1, 1};
    Weight w = {};
    w.codes = codes.data(), w.scales = reinterpret_cast<const std::byte*>(factors);
    w.rows = 2, w.cols = 2 * block_cols(e), w.encoding = e;
    ASSERT_EQ(code_bytes(w), static_cast<std::int64_t>(codes.size()));
    std::vector<float> row(w.cols);
    float size = 0;
    for (std::int64_t n = 0; n < 2; ++n) {
      values(w, n, 0, w.cols, row.data());
      for (std::int64_t k = 0; k < w.cols; ++k) {
        const float multiplier = (n == 0 ? 1 : 4) * (k < block_cols(e) ? 1 : 2);
        ASSERT_EQ(row[k], multiplier * one[k % block_cols(e)]) << name(e) << " " << n << ", " << k;
        ASSERT_EQ(value(w, n, k), row[k]);
        size += std::fabs(row[k]);
      }
      values(w, n, 32, w.cols - 32, row.data());  // begins within a block
      ASSERT_EQ(row[w.cols - 33], value(w, n, w.cols - 1)) << name(e);
    }
    ASSERT_GT(size, 0) << name(e);
  }
}

// In these each product is exact in F32 (at most 11 bits of a half, 6 of a scale, 5 of a code), so that a kernel
// which fuses them with the subtraction gives the same bits.
TEST(Blocks, MinimaSubtractWithOneRoundingOnly) {
  for (const float d :
       {f16_to_float(0x7bff), f16_to_float(0x0001), f16_to_float(0x3fff), f16_to_float(0xb555)}) {
    for (int scale = 0; scale < 64; ++scale) {
      for (int q = 0; q < 32; ++q) {
        const double product = static_cast<double>(d) * scale * q;
        ASSERT_EQ(static_cast<float>(product), product);
      }
    }
  }
}

TEST(Blocks, AScaleOrCodeThatIsNoNumberIsFound) {
  for (const Encoding e : all_blocks()) {
    Bytes bytes;
    for (int i = 0; i < 3; ++i) {
      Bytes block = counting_block(e);
      set_scales(e, i, block.data());
      bytes.insert(bytes.end(), block.begin(), block.end());
    }
    ASSERT_FALSE(first_bad_block(e, bytes)) << name(e);
    const Scales scales = scales_of(e);
    for (const int at : scales.at) {
      Bytes bad = bytes;
      std::byte* from = bad.data() + 2 * block_bytes(e) + at;
      if (scales.kind == Scales::f16) from[1] = std::byte{0xfc};  // an infinity, or a NaN
      if (scales.kind == Scales::e8m0) from[0] = std::byte{0xff};
      if (scales.kind == Scales::e4m3) from[0] = std::byte{0xff};
      const auto found = first_bad_block(e, bad);
      ASSERT_TRUE(found) << name(e) << " " << at;
      EXPECT_EQ(found->block, 2) << name(e);
      EXPECT_EQ(found->what, scales.kind == Scales::f16 ? "its scale is not finite" : "its scale is NaN");
      std::vector<float> out(block_cols(e));
      decode_block(e, bad.data() + 2 * block_bytes(e),
                   out.data());  // and never decodes into plain numbers alone
      bool shows = false;
      for (const float x : out) shows = shows || !std::isfinite(x);
      EXPECT_TRUE(shows) << name(e) << " " << at;
    }
    if (scales.kind != Scales::e8m0) continue;
    Bytes large = bytes;
    large[block_bytes(e) + scales.at.back()] = std::byte{254};
    ASSERT_TRUE(first_bad_block(e, large)) << name(e);
    EXPECT_TRUE(first_bad_block(e, large)->what.starts_with("its scale is above 2^")) << name(e);
    if (e == Encoding::mxfp4_ggml) continue;
    Bytes code = bytes;
    code[2 * block_bytes(e) + (e == Encoding::row264 ? 255 : block_bytes(e) - 1)] = std::byte{0x7f};
    ASSERT_TRUE(first_bad_block(e, code)) << name(e);
    EXPECT_EQ(first_bad_block(e, code)->what, "a code is NaN");
  }
}

}  // namespace
}  // namespace manyspan
