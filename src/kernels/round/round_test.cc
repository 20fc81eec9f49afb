#include "kernels/round/round.h"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/vectors.h"
#include "tensor/e8m0.h"
#include "tensor/fp4.h"
#include "tensor/fp8.h"

namespace manyspan::kernels {
namespace {

// Groups of every size of number, with zeros, lone outliers and exact powers of two.
std::vector<Bf16> rows(int groups, int group) {
  std::mt19937 rng(17);
  std::normal_distribution<float> normal;
  std::vector<Bf16> x;
  for (int g = 0; g < groups; ++g) {
    const float size = std::ldexp(1.0f, g % 60 - 30);
    for (int i = 0; i < group; ++i) {
      float v = normal(rng) * size;
      if (g % 5 == 1 && i % 3 == 0) v = 0;
      if (g % 5 == 2 && i == g % group) v *= 1000;
      if (g % 5 == 3) v = std::copysign(size * std::ldexp(1.0f, -(i % 9)), v);
      x.push_back(to_bf16(g % 5 == 4 && i % 2 == 0 ? -0.0f : v));
    }
  }
  return x;
}

std::vector<Bf16> on_grid8(std::vector<Bf16> x) {
  grid8_row(x.data(), static_cast<std::int64_t>(x.size()));
  return x;
}

TEST(Round, StoredRowsAreTheRoundedOnes) {
  const std::vector<Bf16> x = rows(300, 32);
  const auto n = static_cast<std::int64_t>(x.size());
  std::vector<std::uint8_t> codes(x.size()), scales(x.size() / 32);
  std::vector<Bf16> back(x.size());
  grid8_encode(x.data(), n, codes.data(), scales.data());
  grid8_decode(codes.data(), scales.data(), n, back.data());
  EXPECT_EQ(bits(back), bits(on_grid8(x)));

  std::vector<Bf16> rounded = x;
  grid4_key_row(rounded.data(), n);
  grid4_key_encode(x.data(), n, codes.data(), scales.data());
  grid4_key_decode(codes.data(), scales.data(), n, back.data());
  EXPECT_EQ(bits(back), bits(rounded));
}

TEST(Round, ARowOnTheGridStaysAsItIs) {
  const std::vector<Bf16> x = on_grid8(rows(300, 32));
  EXPECT_EQ(bits(on_grid8(x)), bits(x));
}

TEST(Round, TheScaleIsTheLeastPowerOfTwoThatHoldsTheGroup) {
  std::vector<Bf16> x(64, Bf16{0});
  x[3] = to_bf16(448), x[40] = to_bf16(-450);
  std::vector<std::uint8_t> codes(64), scales(2);
  grid8_encode(x.data(), 64, codes.data(), scales.data());
  EXPECT_EQ(e8m0_to_float(scales[0]), 1);
  EXPECT_EQ(e8m0_to_float(scales[1]), 2);
  EXPECT_EQ(codes[3], 0x7e);
  EXPECT_EQ(codes[40], float_to_fp8(-225));
}

// Amounts below 1e-4 share one scale; those that it cannot show are zero.
TEST(Round, SmallGroupsDoNotGetASmallScale) {
  std::vector<Bf16> x(32, to_bf16(1e-12f));
  x[1] = to_bf16(-1e-5f);
  std::vector<std::uint8_t> codes(32), scales(1);
  grid8_encode(x.data(), 32, codes.data(), scales.data());
  EXPECT_EQ(e8m0_to_float(scales[0]), 0x1p-22f);
  EXPECT_EQ(codes[0], 0);
  EXPECT_EQ(fp8_to_float(codes[1]), -40);  // -41.9
}

TEST(Round, CompressedRowsHaveAScaleOfEightBitsForSixteen) {
  std::vector<Bf16> x(32, to_bf16(0.1f));
  x[0] = to_bf16(6), x[1] = to_bf16(-1.25f), x[2] = to_bf16(1.75f), x[16] = to_bf16(7);
  std::vector<std::uint8_t> codes(16), scales(2);
  grid4_row_encode(x.data(), 32, codes.data(), scales.data());
  EXPECT_EQ(fp8_to_float(scales[0]), 1);
  EXPECT_EQ(fp8_to_float(scales[1]), 1.125f);  // 7/6 on the E4M3 grid
  EXPECT_EQ(codes[0], 7u | (8u | 2u) << 4);    // 6; -1.25 is a tie and goes to the even code, 1
  EXPECT_EQ(codes[1], 4u | 0u << 4);           // 1.75 goes to 2
  std::vector<Bf16> back(32);
  grid4_row_decode(codes.data(), scales.data(), 32, back.data());
  EXPECT_EQ(to_float(back[16]), 6.75f);  // 7/1.125 is clamped to 6
}

TEST(Round, ACompressedRowOfZerosHasTheLeastScale) {
  const std::vector<Bf16> x(16, Bf16{0x8000});
  std::vector<std::uint8_t> codes(8), scales(1);
  grid4_row_encode(x.data(), 16, codes.data(), scales.data());
  EXPECT_EQ(scales[0], 1);
  EXPECT_EQ(codes[5], 0x88) << "the sign of zero is kept";
}

TEST(Round, HugeGroupsSaturate) {
  std::vector<Bf16> x(32, to_bf16(3e38f));
  std::vector<std::uint8_t> codes(16), scales(2);
  grid4_row_encode(x.data(), 32, codes.data(), scales.data());
  EXPECT_EQ(fp8_to_float(scales[0]), 448);
  EXPECT_EQ(codes[0], 0x77);
  EXPECT_NEAR(to_float(on_grid8(x)[0]) / 3e38f, 1, 0.07);
}

}  // namespace
}  // namespace manyspan::kernels
