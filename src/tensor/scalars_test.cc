#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tensor/bf16.h"
#include "tensor/e8m0.h"
#include "tensor/f16.h"
#include "tensor/fp4.h"
#include "tensor/fp8.h"

namespace manyspan {
namespace {

const nlohmann::json& vectors() {
  static const nlohmann::json kVectors = [] {
    std::ifstream file(MANYSPAN_SOURCE_DIR "/tests/data/quant_vectors.json");
    return nlohmann::json::parse(file);
  }();
  return kVectors;
}

std::vector<std::uint32_t> words(const nlohmann::json& hex, std::size_t digits) {
  const auto text = hex.get<std::string>();
  std::vector<std::uint32_t> out;
  for (std::size_t at = 0; at < text.size(); at += digits) {
    out.push_back(static_cast<std::uint32_t>(std::stoul(text.substr(at, digits), nullptr, 16)));
  }
  return out;
}

std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
float from_bits(std::uint32_t u) { return std::bit_cast<float>(u); }

// Equal bits, or both any NaN.
void expect_same(float got, std::uint32_t expected, std::size_t at) {
  if (std::isnan(from_bits(expected))) {
    EXPECT_TRUE(std::isnan(got)) << at;
  } else {
    EXPECT_EQ(bits(got), expected) << at;
  }
}

TEST(Scalars, EveryCodeDecodesAsTheTablesSay) {
  const auto e4m3 = words(vectors()["tables"]["e4m3"], 8), e8m0 = words(vectors()["tables"]["e8m0"], 8),
             e2m1 = words(vectors()["tables"]["e2m1"], 8);
  ASSERT_EQ(e4m3.size(), 256u);
  ASSERT_EQ(e8m0.size(), 256u);
  ASSERT_EQ(e2m1.size(), 16u);
  for (unsigned code = 0; code < 256; ++code) {
    expect_same(fp8_to_float(static_cast<std::uint8_t>(code)), e4m3[code], code);
    expect_same(e8m0_to_float(static_cast<std::uint8_t>(code)), e8m0[code], code);
    if (code < 16) expect_same(fp4_to_float(code), e2m1[code], code);
  }
}

TEST(Scalars, HalvesDecodeAsTheVectorsSay) {
  const auto& f16 = vectors()["scalars"]["F16"];
  const auto& bf16 = vectors()["scalars"]["BF16"];
  const auto halves = words(f16["f32"], 8), tops = words(bf16["f32"], 8);
  for (std::size_t i = 0; i < halves.size(); ++i) expect_same(f16_to_float(f16["u16"][i]), halves[i], i);
  for (std::size_t i = 0; i < tops.size(); ++i) expect_same(to_float(Bf16{bf16["u16"][i]}), tops[i], i);
}

TEST(Scalars, EncodingGivesTheCodesOfTheVectors) {
  const auto& all = vectors()["encode"];
  const auto check = [&](const char* key, auto encode) {
    const auto x = words(all[key]["f32"], 8), codes = words(all[key]["codes"], 2);
    ASSERT_EQ(x.size(), codes.size()) << key;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (std::isinf(from_bits(x[i])))
        continue;  // InfinitySaturates says what holds; the E2M1 vector has 4 there
      EXPECT_EQ(encode(from_bits(x[i])), codes[i]) << key << " " << i;
    }
  };
  check("f32_to_e4m3_rne_satfinite", [](float x) { return std::uint32_t{float_to_fp8(x)}; });
  check("f32_to_e2m1_rne_satfinite", [](float x) { return std::uint32_t{float_to_fp4(x)}; });
  check("f32_to_ue8m0_ceil", [](float x) { return std::uint32_t{e8m0_ceil(x)}; });
  const auto& bf16 = all["f32_to_bf16_rne"];
  const auto x = words(bf16["f32"], 8);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(to_bf16(from_bits(x[i])).bits, bf16["u16"][i]) << i;
}

TEST(Scalars, InfinitySaturates) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(float_to_fp8(infinity), 0x7e);
  EXPECT_EQ(float_to_fp8(-infinity), 0xfe);
  EXPECT_EQ(float_to_fp4(infinity), 7u);
  EXPECT_EQ(float_to_fp4(-infinity), 15u);
}

// Between two neighbours of a grid: the nearer one, at the middle the even one.
template <class Decode, class Encode>
void expect_nearest(unsigned first, unsigned last, Decode decode, Encode encode) {
  for (unsigned code = first; code < last; ++code) {
    const float low = decode(code), high = decode(code + 1), middle = low + (high - low) / 2;
    EXPECT_EQ(encode(low), code);
    EXPECT_EQ(encode(middle), code % 2 == 0 ? code : code + 1) << code;
    EXPECT_EQ(encode(std::nextafter(middle, low)), code);
    EXPECT_EQ(encode(std::nextafter(middle, high)), code + 1);
  }
}

TEST(Scalars, EveryBoundaryRoundsToNearestEven) {
  expect_nearest(
      0, 0x7e, [](unsigned c) { return fp8_to_float(static_cast<std::uint8_t>(c)); },
      [](float x) { return unsigned{float_to_fp8(x)}; });
  expect_nearest(
      0x80, 0xfe, [](unsigned c) { return fp8_to_float(static_cast<std::uint8_t>(c)); },
      [](float x) { return unsigned{float_to_fp8(x)}; });
  expect_nearest(0, 7, fp4_to_float, float_to_fp4);
  expect_nearest(8, 15, fp4_to_float, float_to_fp4);
}

TEST(Scalars, EveryBf16SurvivesTheRoundTrip) {
  for (std::uint32_t code = 0; code < 0x10000; ++code) {
    const Bf16 x = {static_cast<std::uint16_t>(code)};
    if (std::isnan(to_float(x))) {
      EXPECT_TRUE(std::isnan(to_float(to_bf16(to_float(x)))));
    } else {
      EXPECT_EQ(to_bf16(to_float(x)).bits, code);
    }
  }
}

TEST(Scalars, EveryHalfOrdersAsItsBitsDo) {
  for (std::uint16_t code = 1; code <= 0x7c00; ++code) {
    EXPECT_LT(f16_to_float(static_cast<std::uint16_t>(code - 1)), f16_to_float(code));
    EXPECT_EQ(f16_to_float(static_cast<std::uint16_t>(code | 0x8000)), -f16_to_float(code));
  }
  EXPECT_EQ(f16_to_float(0x3c00), 1);
}

TEST(Scalars, TheScaleIsTheNextPowerOfTwo) {
  for (int e = -126; e < 127; ++e) {
    const float power = std::ldexp(1.0f, e);
    EXPECT_EQ(e8m0_to_float(e8m0_ceil(power)), power);
    EXPECT_EQ(e8m0_to_float(e8m0_ceil(std::nextafter(power, 2 * power))), 2 * power);
  }
  EXPECT_EQ(e8m0_ceil(std::numeric_limits<float>::infinity()), 254);
}

}  // namespace
}  // namespace manyspan
