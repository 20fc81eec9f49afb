#include "tensor/weight.h"

#include <cmath>
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

TEST(Weight, MatricesDecodeAsTheVectorsSay) {
  std::ifstream file(MANYSPAN_SOURCE_DIR "/tests/data/quant_vectors.json");
  const nlohmann::json matrices = nlohmann::json::parse(file)["matrices"];
  struct Case {
    const char *key, *codes;
    Encoding encoding;
  };
  for (const Case& c : {Case{"block_fp8_32x32_ragged", "weight", Encoding::fp8_block32},
                        {"row_mxfp8_32", "weight", Encoding::mxfp8},
                        {"row_fp4_e8m0_32", "weight_i8", Encoding::mxfp4}}) {
    const auto& m = matrices[c.key];
    const std::vector<std::byte> codes = unhex(m[c.codes]), scales = unhex(m["scale_e8m0"]);
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
