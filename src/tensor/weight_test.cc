#include "tensor/weight.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace manyspan {
namespace {

std::vector<std::byte> unhex(const std::string& text) {
  std::vector<std::byte> out;
  for (std::size_t at = 0; at < text.size(); at += 2) {
    out.push_back(static_cast<std::byte>(std::stoul(text.substr(at, 2), nullptr, 16)));
  }
  return out;
}

std::vector<std::byte> words(const std::string& text) {
  std::vector<std::byte> out = unhex(text);
  for (std::size_t i = 0; i < out.size(); i += 4) std::reverse(out.begin() + i, out.begin() + i + 4);
  return out;
}

TEST(Weight, MatricesDecodeAsTheVectorsSay) {
  std::ifstream file(MANYSPAN_SOURCE_DIR "/tests/data/quant_vectors.json");
  const nlohmann::json matrices = nlohmann::json::parse(file)["matrices"];
  struct Case {
    const char *key, *codes, *scales;
    Encoding encoding;
  };
  ASSERT_EQ(matrices.size(), 6u);
  for (const Case& c : {Case{"block_fp8_32x32_ragged", "weight", "scale_e8m0", Encoding::fp8_block32},
                        {"block_fp8_128x128_e8m0_cols", "weight", "scale_e8m0", Encoding::fp8_block128},
                        {"block_fp8_128x128_f32_rows", "weight", "scale_f32", Encoding::fp8_block128_f32},
                        {"row_mxfp8_32", "weight", "scale_e8m0", Encoding::mxfp8},
                        {"row_fp4_e8m0_32", "weight_i8", "scale_e8m0", Encoding::mxfp4},
                        {"nvfp4_modelopt_16", "weight_u8", "scale_e4m3", Encoding::nvfp4}}) {
    const auto& m = matrices[c.key];
    const std::vector<std::byte> codes = unhex(m[c.codes]);
    // The vectors write an F32 as a number, highest byte first.
    std::vector<std::byte> scales =
        c.encoding == Encoding::fp8_block128_f32 ? words(m[c.scales]) : unhex(m[c.scales]);
    if (c.encoding == Encoding::nvfp4) {
      for (int n = 0; n < m["shape"][0]; ++n) {
        const std::vector<std::byte> factor = words(m["scale2_f32"]);
        scales.insert(scales.end(), factor.begin(), factor.end());
      }
    }
    Weight w = {};
    w.codes = codes.data(), w.scales = scales.data();
    w.rows = m["shape"][0], w.cols = m["shape"][1], w.encoding = c.encoding;
    ASSERT_EQ(code_bytes(w), static_cast<std::int64_t>(codes.size()));
    ASSERT_EQ(scale_bytes(w), static_cast<std::int64_t>(scales.size()));
    const std::string expected = m["f32"];
    std::vector<float> row(w.cols);
    for (std::int64_t n = 0; n < w.rows; ++n) {
      values(w, n, 0, w.cols, row.data());
      for (std::int64_t k = 0; k < w.cols; ++k) {
        const auto word = std::stoul(expected.substr((n * w.cols + k) * 8, 8), nullptr, 16);
        const float x = std::bit_cast<float>(static_cast<std::uint32_t>(word));
        if (std::isnan(x)) {
          EXPECT_TRUE(std::isnan(value(w, n, k)));
        } else {
          EXPECT_EQ(value(w, n, k), x) << c.key << " " << n << ", " << k;
          EXPECT_EQ(row[k], x) << c.key << " " << n << ", " << k;
        }
      }
    }
  }
}

TEST(Weight, TheNthOfARowIsAtItsStride) {
  const float numbers[] = {1, 2, 3, 4, 5, 6};
  Weight w = {};
  w.codes = reinterpret_cast<const std::byte*>(numbers);
  w.rows = 1, w.cols = 2, w.encoding = Encoding::f32, w.next_codes = 8;
  EXPECT_EQ(value(nth(w, 2), 0, 1), 6);
}

// 256x256 ones whose four 128x128 blocks have the multipliers 1, 2, 4, 8; and rows of 16 with each its own.
TEST(Weight, WideBlocksAndNarrowOnesReadTheirOwnScale) {
  const std::vector<std::byte> ones(256 * 256, std::byte{0x38});
  const std::vector<std::byte> bytes = {std::byte{127}, std::byte{128}, std::byte{129}, std::byte{130}};
  const float floats[] = {1, 2, 4, 8};
  Weight w = {};
  w.codes = ones.data(), w.rows = w.cols = 256;
  for (const Encoding e : {Encoding::fp8_block128, Encoding::fp8_block128_f32}) {
    w.encoding = e;
    w.scales = e == Encoding::fp8_block128 ? bytes.data() : reinterpret_cast<const std::byte*>(floats);
    for (std::int64_t n = 0; n < 256; n += 3) {
      for (std::int64_t k = 0; k < 256; ++k) {
        ASSERT_EQ(value(w, n, k), (n < 128 ? 1 : 4) * (k < 128 ? 1 : 2)) << n << ", " << k;
      }
    }
  }
  const std::vector<std::byte> halves(3 * 16, std::byte{0x22});
  std::vector<std::byte> scales = {std::byte{0x38}, std::byte{0x40}, std::byte{0x48},
                                   std::byte{0x30}, std::byte{0x28}, std::byte{0x20}};  // 1 2 4 · ½ ¼ ⅛
  const float factors[] = {3, 5, 7};
  scales.resize(8 + sizeof factors);
  std::memcpy(scales.data() + 8, factors, sizeof factors);
  w.codes = halves.data(), w.scales = scales.data(), w.rows = 3, w.cols = 32, w.encoding = Encoding::nvfp4;
  const float right[3][2] = {{3, 6}, {20, 2.5f}, {1.75f, 0.875f}};
  ASSERT_EQ(scale_bytes(w), static_cast<std::int64_t>(scales.size()));
  for (std::int64_t n = 0; n < 3; ++n) {
    for (std::int64_t k = 0; k < 32; ++k) ASSERT_EQ(value(w, n, k), right[n][k / 16]) << n << ", " << k;
  }
}

TEST(Weight, TilesCountTheirPadding) {
  Weight w = {};
  w.rows = 17, w.cols = 33, w.tiling = Tiling::cpu16x32;
  w.encoding = Encoding::fp8_block32;
  EXPECT_EQ(code_bytes(w), 4 * 512);
  EXPECT_EQ(scale_bytes(w), 4 * 2);
  w.encoding = Encoding::mxfp8;
  EXPECT_EQ(scale_bytes(w), 4 * 16);
  w.encoding = Encoding::mxfp4;
  EXPECT_EQ(code_bytes(w), 4 * 256);
  w.encoding = Encoding::bf16;
  EXPECT_EQ(code_bytes(w), 4 * 1024);
  EXPECT_EQ(scale_bytes(w), 0);
}

}  // namespace
}  // namespace manyspan
