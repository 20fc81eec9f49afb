#include "kernels/rope/rope.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/vectors.h"

namespace manyspan::kernels {
namespace {

TEST(Rope, AQuarterTurnMovesTheFirstOntoTheSecond) {
  const float frequency[] = {1.57079632f, 0};
  Bf16 x[] = {to_bf16(3), to_bf16(5), to_bf16(7), to_bf16(11)};
  rope_row({frequency, 4}, 1, false, x);
  EXPECT_EQ(to_float(x[0]), -5);
  EXPECT_EQ(to_float(x[1]), 3);
  EXPECT_EQ(to_float(x[2]), 7);
  EXPECT_EQ(to_float(x[3]), 11);
}

TEST(Rope, PositionZeroTurnsNothing) {
  const float frequency[] = {1, 0.1f};
  Bf16 x[] = {to_bf16(3), to_bf16(-5), {0x8000}, to_bf16(1e30f)};
  const std::vector<Bf16> before(x, x + 4);
  rope_row({frequency, 4}, 0, false, x);
  EXPECT_EQ(bits(std::vector<Bf16>(x, x + 2)), bits(std::vector<Bf16>(before.begin(), before.begin() + 2)));
  EXPECT_EQ(x[3].bits, before[3].bits);
}

TEST(Rope, BackUndoesForthUpToRounding) {
  const float frequency[] = {1, 0.3f, 0.01f};
  for (const std::int64_t position : {1, 77, 65535, 1000000}) {
    Bf16 x[6];
    for (int i = 0; i < 6; ++i) x[i] = to_bf16(static_cast<float>(i) - 2.5f);
    rope_row({frequency, 6}, position, false, x);
    rope_row({frequency, 6}, position, true, x);
    for (int i = 0; i < 6; ++i) EXPECT_NEAR(to_float(x[i]), static_cast<float>(i) - 2.5f, 0.03f);
  }
}

// At a million, the f32 product and the exact one differ by more than bf16 can hide.
TEST(Rope, TheAngleIsOneSinglePrecisionProduct) {
  const float frequency[] = {0.7498942f};
  const float rounded = 1000003.0f * frequency[0];
  const double exact = 1000003.0 * frequency[0];
  ASSERT_GT(std::fabs(std::cos(rounded) - std::cos(exact)), 0.005);
  Bf16 x[] = {to_bf16(1), to_bf16(0)};
  rope_row({frequency, 2}, 1000003, false, x);
  EXPECT_EQ(x[0].bits, to_bf16(static_cast<float>(std::cos(static_cast<double>(rounded)))).bits);
}

}  // namespace
}  // namespace manyspan::kernels
