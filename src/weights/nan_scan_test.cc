#include "weights/nan_scan.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace manyspan {
namespace {

using Scan = std::optional<std::size_t> (*)(std::span<const std::byte>);

// Where `scan` finds `bits` put as number `at` of `count` zeros, which begin one byte off any alignment.
template <class Bits>
std::optional<std::size_t> found(Scan scan, std::size_t count, std::size_t at, Bits bits) {
  std::vector<std::byte> memory(1 + count * sizeof(Bits));
  for (std::size_t i = 0; i < sizeof(Bits); ++i)
    memory[1 + at * sizeof(Bits) + i] = static_cast<std::byte>(bits >> (8 * i));
  return scan(std::span(memory).subspan(1));
}

TEST(NanScan, EveryNanAndInfinityIsFoundAndNoNumber) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    ASSERT_EQ(found(first_unbounded_f16, 3, 1, half).has_value(), (bits & 0x7c00) == 0x7c00) << bits;
    ASSERT_EQ(found(first_unbounded_bf16, 3, 1, half).has_value(), (bits & 0x7f80) == 0x7f80) << bits;
    const std::uint32_t wide = bits << 16 | 1;
    ASSERT_EQ(found(first_unbounded_f32, 3, 1, wide).has_value(), (bits & 0x7f80) == 0x7f80) << bits;
  }
}

TEST(NanScan, TheFirstIsFoundWhereverItIs) {
  for (const std::size_t count : {1u, 7u, 1024u, 2048u, 4096u, 10'001u}) {
    for (const std::size_t at : {std::size_t{0}, count / 2, count - 1}) {
      EXPECT_EQ(found(first_unbounded_f32, count, at, 0x7f800000u), at);
      EXPECT_EQ(found(first_unbounded_f16, count, at, std::uint16_t{0xfc00}), at);
      EXPECT_EQ(found(first_unbounded_bf16, count, at, std::uint16_t{0xff80}), at);
      EXPECT_EQ(found(first_fp8_nan, count, at, std::uint8_t{0xff}), at);
    }
  }
  EXPECT_EQ(first_unbounded_f32({}), std::nullopt);
}

TEST(NanScan, TheMostOfAScaleIsTheLastThatF32Bears) {
  EXPECT_TRUE(std::isfinite(std::ldexp(448.0f, kMostFp8Scale - 127)));
  EXPECT_FALSE(std::isfinite(std::ldexp(448.0f, kMostFp8Scale - 126)));
  EXPECT_TRUE(std::isfinite(std::ldexp(6.0f, kMostFp4Scale - 127)));
  EXPECT_FALSE(std::isfinite(std::ldexp(6.0f, kMostFp4Scale - 126)));
  for (int code = 0; code < 256; ++code) {
    const std::byte one{static_cast<std::uint8_t>(code)};
    EXPECT_EQ(first_e8m0_above({&one, 1}, kMostFp8Scale).has_value(), code > kMostFp8Scale);
    if (code == 0 || code == 255) continue;
    const float scale = std::ldexp(1.0f, code - 127);
    EXPECT_EQ(first_scale_above(std::as_bytes(std::span(&scale, 1)), kMostFp4Scale).has_value(),
              code > kMostFp4Scale);
  }
}

}  // namespace
}  // namespace manyspan
