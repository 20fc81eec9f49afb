#include "convert/quantise.h"

#include <cmath>
#include <limits>

#include "convert/convert_trial.h"
#include "convert/repack.h"
#include "tensor/blocks.h"
#include "tensor/f16.h"
#include "weights/block_trial.h"
#include "weights/plain.h"

namespace manyspan {
namespace {

std::vector<float> decoded(StoredType type, Encoding e, const std::vector<float>& row) {
  std::vector<std::byte> blocks(row.size() / 32 * static_cast<std::size_t>(block_of(type).bytes));
  EXPECT_TRUE(quantise_row(type, row, blocks.data()).ok());
  std::vector<float> out(row.size());
  for (std::size_t b = 0; b < row.size() / 32; ++b)
    decode_block(e, blocks.data() + b * static_cast<std::size_t>(block_bytes(e)), out.data() + b * 32);
  return out;
}

std::vector<float> scattered(std::size_t count, float size) {
  Scatter scatter(7);
  std::vector<float> row(count);
  for (float& x : row) x = (static_cast<float>(scatter.next() % 20001) / 10000 - 1) * size;
  return row;
}

// Half a step of what is stored, and what the step's own rounding to F16 adds for the largest number.
TEST(Quantise, NoNumberIsFartherThanHalfAStep) {
  for (const float size : {1e-4f, 1.0f, 300.0f}) {
    const std::vector<float> row = scattered(4096, size);
    const std::vector<float> q8 = decoded(StoredType::q8_0, Encoding::q8_0, row),
                             q4 = decoded(StoredType::q4_0, Encoding::q4_0, row),
                             fp4 = decoded(StoredType::mxfp4_ggml, Encoding::mxfp4_ggml, row);
    for (std::size_t b = 0; b < row.size(); b += 32) {
      float largest = 0;
      for (std::size_t c = b; c < b + 32; ++c) largest = std::max(largest, std::fabs(row[c]));
      for (std::size_t c = b; c < b + 32; ++c) {
        EXPECT_LE(std::fabs(q8[c] - row[c]), largest / 127 * 0.51f + largest * 0x1p-11f + 128 * 0x1p-25f);
        // The end of the other sign is a whole step away: codes go from -8 to 7.
        EXPECT_LE(std::fabs(q4[c] - row[c]), largest / 8 * 1.01f + 8 * 0x1p-25f);
        // Steps of E2M1 are a third of a number at most, half of which is lost; of small ones a quarter of the scale.
        const float scale = std::exp2(std::ceil(std::log2(largest / 6)));
        EXPECT_LE(std::fabs(fp4[c] - row[c]), std::max(std::fabs(row[c]) / 4, scale / 4));
      }
    }
  }
}

TEST(Quantise, NumbersThatABlockHoldsStayAsTheyAre) {
  std::vector<float> row(32);
  for (int c = 0; c < 32; ++c) row[static_cast<std::size_t>(c)] = static_cast<float>(c * 8 - 127) * 0.25f;
  row[31] = -127 * 0.25f;
  EXPECT_EQ(decoded(StoredType::q8_0, Encoding::q8_0, row), row);
  for (int c = 0; c < 32; ++c) row[static_cast<std::size_t>(c)] = static_cast<float>(c % 16 - 8) * 3;
  EXPECT_EQ(decoded(StoredType::q4_0, Encoding::q4_0, row), row);
  constexpr float kFp4[] = {0, .5f, 1, 1.5f, 2, 3, 4, 6, -.5f, -1, -1.5f, -2, -3, -4, -6, 0};
  for (int c = 0; c < 32; ++c) row[static_cast<std::size_t>(c)] = kFp4[c % 16] * 0.125f;
  EXPECT_EQ(decoded(StoredType::mxfp4_ggml, Encoding::mxfp4_ggml, row), row);
  const std::vector<float> zeros(64);
  for (const auto& [type, e] : {std::pair{StoredType::q8_0, Encoding::q8_0},
                                {StoredType::q4_0, Encoding::q4_0},
                                {StoredType::mxfp4_ggml, Encoding::mxfp4_ggml}})
    EXPECT_EQ(decoded(type, e, zeros), zeros);
}

TEST(Quantise, EveryHalfIsItsOwnNearestAndTiesGoToTheEvenOne) {
  for (std::uint32_t code = 0; code < 0x10000; ++code) {
    const float x = f16_to_float(static_cast<std::uint16_t>(code));
    if (std::isnan(x)) continue;
    ASSERT_EQ(float_to_f16(x), code);
    if ((code & 0x7fff) >= 0x7bff) continue;
    const float next = f16_to_float(static_cast<std::uint16_t>(code + 1));
    ASSERT_EQ(float_to_f16((x + next) / 2), code + (code & 1)) << code;
  }
  EXPECT_EQ(float_to_f16(65519.0f), 0x7bff);
  EXPECT_EQ(float_to_f16(65520.0f), 0x7c00);
  EXPECT_EQ(float_to_f16(-std::numeric_limits<float>::infinity()), 0xfc00);
  EXPECT_TRUE(std::isnan(f16_to_float(float_to_f16(std::nanf("")))));
}

TEST(Quantise, WhatATypeDoesNotHoldIsRefusedWithItsColumn) {
  std::vector<float> row(32, 1.0f);
  row[9] = 1e6f;
  std::vector<std::byte> out(64);
  const auto said = quantise_row(StoredType::f16, row, out.data());
  ASSERT_FALSE(said.ok());
  EXPECT_EQ(said.error().message(), "column 9 is 1e+06, beyond what F16 holds");
  row[9] = 1e30f;
  EXPECT_FALSE(quantise_row(StoredType::q8_0, row, out.data()).ok());
  EXPECT_TRUE(quantise_row(StoredType::bf16, row, out.data()).ok());
}

TEST(Repack, BlocksAndRowsSayTheSameThereAndBack) {
  Scatter scatter(3);
  std::vector<std::byte> codes(64), scales(4), blocks(4 * 17), back(64), scales_back(4);
  for (std::byte& b : codes) b = static_cast<std::byte>(scatter.next());
  for (std::byte& b : scales) b = static_cast<std::byte>(100 + scatter.next() % 50);
  mxfp4_to_blocks(codes.data(), scales.data(), 4, blocks.data());
  mxfp4_codes_of(blocks.data(), 4, back.data());
  mxfp4_scales_of(blocks.data(), 4, scales_back.data());
  EXPECT_EQ(back, codes);
  EXPECT_EQ(scales_back, scales);
  EXPECT_EQ(blocks[1], static_cast<std::byte>((std::to_integer<int>(codes[0]) & 15) |
                                              (std::to_integer<int>(codes[8]) & 15) << 4));
  std::vector<std::byte> nv(2 * 36), nv_scales(8), nv_back(64), nv_scales_back(8);
  for (std::byte& b : nv_scales) b = static_cast<std::byte>(scatter.next() & 0x7f);
  nvfp4_to_blocks(codes.data(), nv_scales.data(), 2, nv.data());
  nvfp4_codes_of(nv.data(), 2, nv_back.data());
  nvfp4_scales_of(nv.data(), 2, nv_scales_back.data());
  EXPECT_EQ(nv_back, codes);
  EXPECT_EQ(nv_scales_back, nv_scales);
}

TEST(Quantise, AModelKeepsWhatHasAFloorAndSaysSo) {
  const TemporaryFolder folder;
  for (const auto& [type, e] : {std::pair{StoredType::q8_0, Encoding::q8_0},
                                {StoredType::q4_0, Encoding::q4_0},
                                {StoredType::mxfp4_ggml, Encoding::mxfp4_ggml},
                                {StoredType::f16, Encoding::f16}}) {
    const std::string out = folder / (std::string(name(type)) + ".gguf");
    const ConvertReport report = converted(kBundledModel, out, {.quantize = type});
    const auto opened = Checkpoint::open(out).value();
    EXPECT_EQ(opened->weights.at(Role::wq_b, LayerId{3}).encoding, e);
    EXPECT_EQ(opened->weights.at(Role::attention_mix_fn, LayerId{3}).encoding, Encoding::f32);
    EXPECT_EQ(opened->weights.at(Role::gate, LayerId{3}).encoding, Encoding::bf16);
    EXPECT_EQ(opened->weights.at(Role::expert_w1, LayerId{3}).encoding, Encoding::mxfp4_ggml);
    EXPECT_EQ(opened->weights.at(Role::engram_table, LayerId{1}).encoding, Encoding::mxfp8);
    EXPECT_TRUE(opened->warnings.empty()) << opened->warnings[0];
    EXPECT_FALSE(report.notes.empty());
  }
}

TEST(Quantise, SafetensorsHaveNoBlocks) {
  const TemporaryFolder folder;
  EXPECT_NE(
      refused(kTinyModel, folder / "m", {.quantize = StoredType::q8_0}).find("safetensors have no Q8_0"),
      std::string::npos);
}

// What a GGUF's blocks say becomes floats where safetensors have no such blocks.
TEST(Quantise, BlocksBecomeF32InSafetensors) {
  const TemporaryFolder folder;
  converted(kBundledModel, folder / "q.gguf", {.quantize = StoredType::q8_0});
  converted(folder / "q.gguf", folder / "q");
  const auto gguf = Checkpoint::open(folder / "q.gguf").value(),
             plain = Checkpoint::open(folder / "q").value();
  const MatrixSource &a = gguf->weights.at(Role::wq_b, LayerId{3}),
                     &b = plain->weights.at(Role::wq_b, LayerId{3});
  EXPECT_EQ(b.encoding, Encoding::f32);
  for (std::int64_t c = 0; c < a.cols; ++c)
    EXPECT_EQ(value(plain_matrix(a).weight, 5, c), value(plain_matrix(b).weight, 5, c));
}

}  // namespace
}  // namespace manyspan
