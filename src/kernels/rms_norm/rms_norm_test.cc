#include "kernels/rms_norm/rms_norm.h"

#include <gtest/gtest.h>

namespace manyspan::kernels {
namespace {

TEST(RmsNorm, ARowOfEqualsBecomesTheGain) {
  const Bf16 x[] = {to_bf16(-8), to_bf16(8), to_bf16(8), to_bf16(8)};
  const Bf16 gain[] = {to_bf16(1), to_bf16(0.5f), to_bf16(-2), to_bf16(3)};
  Bf16 y[4];
  norm_row(x, gain, 1e-20f, 4, y);
  EXPECT_EQ(to_float(y[0]), -1);
  EXPECT_EQ(to_float(y[1]), 0.5f);
  EXPECT_EQ(to_float(y[2]), -2);
  EXPECT_EQ(to_float(y[3]), 3);
}

TEST(RmsNorm, ARowOfZerosStaysZero) {
  Bf16 x[] = {{0}, {0}};
  const Bf16 gain[] = {to_bf16(3), to_bf16(3)};
  norm_row(x, gain, 1e-20f, 2, x);
  EXPECT_EQ(x[0].bits, 0);
  EXPECT_EQ(inverse_rms(x, 2, 1e-20f), 1e10f);
}

}  // namespace
}  // namespace manyspan::kernels
