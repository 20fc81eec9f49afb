// Codes with planes of scales through the loader: what a file's bytes mean, read number by number.

#include <cmath>

#include "tensor/fp4.h"
#include "tensor/fp8.h"
#include "weights/encodings_trial.h"

namespace manyspan {
namespace {

std::vector<std::byte> codes_of(std::int64_t count, std::uint64_t seed) {
  Scatter scatter(seed);
  std::vector<std::byte> codes(static_cast<std::size_t>(count));
  for (std::byte& b : codes) b = static_cast<std::byte>(scatter.next() & 0xf7u);  // no E4M3 NaN
  return codes;
}

std::vector<std::byte> scales_of(std::int64_t down, std::int64_t across,
                                 const std::function<std::vector<std::byte>(int)>& one) {
  std::vector<std::byte> scales;
  for (std::int64_t r = 0; r < down; ++r) {
    for (std::int64_t c = 0; c < across; ++c) {
      const std::vector<std::byte> scale = one(power_at(r, down, c, across));
      scales.insert(scales.end(), scale.begin(), scale.end());
    }
  }
  return scales;
}
std::vector<std::byte> e8m0(int power) { return {static_cast<std::byte>(127 + power)}; }
std::vector<std::byte> e4m3(int power) { return {static_cast<std::byte>((power + 7) << 3)}; }
float times_power(float number, int power) { return number * std::ldexp(1.0f, power); }

std::uint8_t byte_at(const std::vector<std::byte>& bytes, std::int64_t at) {
  return static_cast<std::uint8_t>(bytes[static_cast<std::size_t>(at)]);
}
float fp4_at(const std::vector<std::byte>& codes, std::int64_t at) {
  const unsigned byte = byte_at(codes, at / 2);
  return fp4_to_float(at % 2 == 0 ? byte & 15u : byte >> 4u);
}

TEST_F(Encodings, ScalePlanesOfFp8) {
  struct Case {
    Encoding encoding;
    std::int64_t block_rows, block_cols, rows, cols;
    StoredType type;
    float (*scale)(int);
  };
  const auto power = [](int p) { return std::ldexp(1.0f, p); };
  const auto free = [](int p) { return 0.7f + 0.3f * static_cast<float>(p); };
  const Case cases[] = {
      {Encoding::fp8_block32, 32, 32, 96, 224, StoredType::f8_e8m0, power},
      {Encoding::fp8_block32, 32, 32, 70, 96, StoredType::f8_e8m0, power},
      {Encoding::fp8_block32, 32, 32, 96, 224, StoredType::u8, power},
      {Encoding::fp8_block128, 128, 128, 300, 416, StoredType::f8_e8m0, power},
      {Encoding::fp8_block128, 128, 128, 300, 416, StoredType::f32, power},
      {Encoding::fp8_block128_f32, 128, 128, 300, 416, StoredType::f32, free},
      {Encoding::mxfp8, 1, 32, 6, 224, StoredType::f8_e8m0, power},
  };
  for (const Case& c : cases) {
    quantization_.block_rows = static_cast<std::int32_t>(c.block_rows);
    quantization_.block_cols = static_cast<std::int32_t>(c.block_cols);
    quantization_.scales_ue8m0 = true;
    const std::int64_t down = (c.rows + c.block_rows - 1) / c.block_rows,
                       across = (c.cols + c.block_cols - 1) / c.block_cols;
    const auto codes = codes_of(c.rows * c.cols, 7);
    const auto scales = scales_of(
        down, across, [&](int p) { return c.type == StoredType::f32 ? bytes_of(c.scale(p)) : e8m0(p); });
    expect({{kOfficial, StoredType::f8_e4m3, {c.rows, c.cols}, codes},
            {kStem + ".scale", c.type, {down, across}, scales}},
           false, c.rows, c.cols, c.encoding, [&](std::int64_t r, std::int64_t k) {
             return fp8_to_float(byte_at(codes, r * c.cols + k)) *
                    c.scale(power_at(r / c.block_rows, down, k / c.block_cols, across));
           });
  }
}

TEST_F(Encodings, FreeFp8ScalesMustLeaveNumbers) {
  quantization_.block_rows = quantization_.block_cols = 128;
  const auto codes = codes_of(128 * 256, 7);
  const auto said = [&](float scale) {
    auto scales = bytes_of(1.5f);
    const auto second = bytes_of(scale);
    scales.insert(scales.end(), second.begin(), second.end());
    return refusal({{kOfficial, StoredType::f8_e4m3, {128, 256}, codes},
                    {kStem + ".weight_scale_inv", StoredType::f32, {1, 2}, scales}},
                   false, 128, 256);
  };
  for (const float fine : {-1.0f, 0.0f, 1e-40f, 7e35f}) EXPECT_EQ(said(fine), "accepted") << fine;
  for (const float bad : {NAN, INFINITY, 1e36f})
    EXPECT_EQ(said(bad),
              file_ +
                  ": tensor layers.0.attn.wq_b.weight_scale_inv: scale 1 is no number, or F32 does "
                  "not hold its product with 448, the largest FP8 code");
}

TEST_F(Encodings, Mxfp4InEveryTypeOfBytes) {
  constexpr std::int64_t kRows = 6, kCols = 224;
  const auto codes = codes_of(kRows * kCols / 2, 9);
  const auto scales = scales_of(kRows, kCols / 32, e8m0);
  const Numbers numbers = [&](std::int64_t r, std::int64_t c) {
    return times_power(fp4_at(codes, r * kCols + c), power_at(r, kRows, c / 32, kCols / 32));
  };
  const struct {
    StoredType codes, scales;
    std::int64_t cols;
  } cases[] = {{StoredType::i8, StoredType::f8_e8m0, kCols / 2},
               {StoredType::u8, StoredType::f8_e8m0, kCols / 2},
               {StoredType::f4, StoredType::f8_e8m0, kCols},
               {StoredType::u32, StoredType::u8, kCols / 8}};
  for (const auto& c : cases) {
    expect({{kOfficial, c.codes, {kRows, c.cols}, codes},
            {kStem + ".scales", c.scales, {kRows, kCols / 32}, scales}},
           false, kRows, kCols, Encoding::mxfp4, numbers);
  }
}

TEST_F(Encodings, WordsOfFourFp8Codes) {
  constexpr std::int64_t kRows = 6, kCols = 224;
  const auto codes = codes_of(kRows * kCols, 9);
  expect({{kOfficial, StoredType::u32, {kRows, kCols / 4}, codes},
          {kStem + ".scales", StoredType::u8, {kRows, kCols / 32}, scales_of(kRows, kCols / 32, e8m0)}},
         false, kRows, kCols, Encoding::mxfp8, [&](std::int64_t r, std::int64_t c) {
           return times_power(fp8_to_float(byte_at(codes, r * kCols + c)),
                              power_at(r, kRows, c / 32, kCols / 32));
         });
}

TEST_F(Encodings, Nvfp4OfBothPrograms) {
  constexpr std::int64_t kRows = 6, kCols = 224;
  const auto codes = codes_of(kRows * kCols / 2, 9);
  const auto scales = scales_of(kRows, kCols / 16, e4m3);
  float factor = 0.3f;
  const Numbers numbers = [&](std::int64_t r, std::int64_t c) {
    return times_power(fp4_at(codes, r * kCols + c), power_at(r, kRows, c / 16, kCols / 16)) * factor;
  };
  std::vector<Stored> tensors = {{kOfficial, StoredType::u8, {kRows, kCols / 2}, codes},
                                 {kStem + ".weight_scale", StoredType::f8_e4m3, {kRows, kCols / 16}, scales},
                                 {kStem + ".weight_scale_2", StoredType::f32, {}, bytes_of(factor)},
                                 {kStem + ".input_scale", StoredType::f32, {}, bytes_of(77)}};
  expect(tensors, false, kRows, kCols, Encoding::nvfp4, numbers);
  tensors[1].data[9] = std::byte{0xff};
  EXPECT_EQ(refusal(tensors, false, kRows, kCols),
            file_ + ": tensor layers.0.attn.wq_b.weight_scale: scale 9 is NaN");
  tensors[1].data = scales;
  tensors[1].shape = {kCols / 16, kRows};
  EXPECT_EQ(refusal(tensors, false, kRows, kCols),
            file_ +
                ": tensor layers.0.attn.wq_b.weight_scale: scale is F8_E4M3 [14, 6], must be [6, 14] for "
                "1x16 blocks of U8 [6, 112]");
  tensors[1].shape = {kRows, kCols / 16};
  tensors.erase(tensors.begin() + 2);
  EXPECT_EQ(refusal(tensors, false, kRows, kCols),
            file_ + ": tensor layers.0.attn.wq_b.weight: no weight_scale_2, which NVFP4 needs");

  factor = 1;
  expect({{kOfficial, StoredType::u32, {kRows, kCols / 8}, codes},
          {kStem + ".scales", StoredType::u8, {kRows, kCols / 16}, scales}},
         false, kRows, kCols, Encoding::nvfp4, numbers);
}

TEST_F(Encodings, AffineWordsAreRefusedByName) {
  const std::vector<Stored> tensors = {
      {kOfficial, StoredType::u32, {6, 8}, std::vector<std::byte>(6 * 8 * 4)},
      {kStem + ".scales", StoredType::bf16, {6, 1}, std::vector<std::byte>(12)},
      {kStem + ".biases", StoredType::bf16, {6, 1}, std::vector<std::byte>(12)}};
  EXPECT_NE(refusal(tensors, false, 6, 64).find("quantised in MLX's affine mode"), std::string::npos);
  EXPECT_EQ(left_, "");
  EXPECT_NE(refusal({tensors[0], tensors[1]}, false, 6, 64).find("affine mode"), std::string::npos);
}

}  // namespace
}  // namespace manyspan
