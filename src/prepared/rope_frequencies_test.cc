#include "prepared/rope_frequencies.h"

#include <cmath>

#include <gtest/gtest.h>

namespace manyspan {
namespace {

// The released model's numbers.                                                       spec 5
Blueprint released() {
  Blueprint b{};
  b.rope_dim = 64;
  b.rope_theta = 10000;
  b.compress_rope_theta = 160000;
  b.yarn = {16, 32, 1, 65536};
  return b;
}

TEST(RopeFrequencies, WindowLayersTurnPlainly) {
  const std::vector<float> f = window_frequencies(released());
  ASSERT_EQ(f.size(), 32u);
  for (std::size_t i = 0; i < f.size(); ++i) {
    EXPECT_NEAR(f[i], std::pow(10000.0, -2.0 * static_cast<double>(i) / 64), 1e-6 * f[i]);
  }
}

TEST(RopeFrequencies, CompressedLayersAreStretchedBetweenTheTwoCorrectedPairs) {
  const std::vector<float> f = compressed_frequencies(released());
  ASSERT_EQ(f.size(), 32u);
  for (std::size_t i = 0; i < f.size(); ++i) {
    const double plain = std::pow(160000.0, -2.0 * static_cast<double>(i) / 64);
    if (i <= 15) {  // turns often: as it was
      EXPECT_NEAR(f[i], plain, 1e-6 * plain) << i;
    } else if (i >= 25) {  // turns less than once: stretched whole
      EXPECT_NEAR(f[i], plain / 16, 1e-6 * plain) << i;
    } else {
      EXPECT_TRUE(f[i] < plain && f[i] > plain / 16) << i;
    }
  }
}

TEST(RopeFrequencies, WithoutYarnNothingIsStretched) {
  Blueprint b = released();
  b.yarn.original_length = 0;
  EXPECT_NEAR(compressed_frequencies(b)[31], std::pow(160000.0, -62.0 / 64), 1e-9);
}

}  // namespace
}  // namespace manyspan
