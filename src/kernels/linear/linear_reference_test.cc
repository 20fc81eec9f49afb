#include <random>

#include <gtest/gtest.h>

#include "kernels/layout.h"
#include "kernels/table.h"
#include "kernels/trial.h"
#include "kernels/vectors.h"

namespace manyspan::kernels {
namespace {

constexpr std::int32_t kRows = 9, kCols = 96, kOut = 64;

template <class T>
const std::byte* bytes(const std::vector<T>& v) {
  return reinterpret_cast<const std::byte*>(v.data());
}

struct LinearCase {
  Vectors v{"linear"};
  std::vector<Bf16> x = v.bf16("x"), gain = v.bf16("gain"), wb = v.bf16("wb");
  std::vector<std::uint8_t> codes8 = v.u8("codes8"), scales8 = v.u8("scales8"), codes4 = v.u8("codes4"),
                            scales4 = v.u8("scales4");
  std::vector<float> wf = v.f32("wf"), f = std::vector<float>(kRows * kOut);
  std::vector<Bf16> y = std::vector<Bf16>(kRows * kOut), z = y;

  Weight matrix(Encoding e) const {
    Weight w = {};
    w.rows = kOut, w.cols = kCols, w.encoding = e;
    w.codes = e == Encoding::f32           ? bytes(wf)
              : e == Encoding::bf16        ? bytes(wb)
              : e == Encoding::fp8_block32 ? bytes(codes8)
                                           : bytes(codes4);
    w.scales = e == Encoding::fp8_block32 ? bytes(scales8) : e == Encoding::mxfp4 ? bytes(scales4) : nullptr;
    return w;
  }
  Linear::Part part(const Weight& w, std::vector<Bf16>& to) {
    return {rows_of(std::as_const(x), kCols), w, {rows_of(to, kOut), {}}};
  }
};

TEST(LinearReference, NormGridAndProductsEqualTheOracle) {
  LinearCase c;
  Linear p = {};
  p.parts[0] = c.part(c.matrix(Encoding::fp8_block32), c.y);
  p.parts[1] = c.part(c.matrix(Encoding::mxfp4), c.z);
  p.count = 2;
  p.norm = c.gain.data(), p.eps = 1e-20f, p.grid_in = true;
  Trial().run(kReference.linear, p);
  EXPECT_EQ(bits(c.y), bits(c.v.bf16("y8")));
  EXPECT_EQ(bits(c.z), bits(c.v.bf16("y4")));
}

TEST(LinearReference, EveryTilingGivesTheSame) {
  LinearCase c;
  for (const Encoding e : {Encoding::fp8_block32, Encoding::mxfp4}) {
    for (const RowOrder order : {RowOrder::natural, RowOrder::paired8}) {
      Weight w = arranged(c.matrix(e), Tiling::cpu16x32, order);
      std::vector<std::byte> codes(arranged_code_bytes(w)), scales(arranged_scale_bytes(w));
      arrange(c.matrix(e), w, codes.data(), scales.data());
      w.codes = codes.data(), w.scales = scales.data();
      Linear p = {};
      p.parts[0] = c.part(w, c.y);
      p.count = 1;
      p.norm = c.gain.data(), p.eps = 1e-20f, p.grid_in = true;
      Trial().run(kReference.linear, p);
      EXPECT_EQ(bits(c.y), bits(c.v.bf16(e == Encoding::mxfp4 ? "y4" : "y8")));
    }
  }
}

TEST(LinearReference, GridOutAndF32OutEqualTheOracle) {
  LinearCase c;
  Linear p = {};
  p.parts[0] = c.part(c.matrix(Encoding::bf16), c.y);
  p.count = 1;
  p.grid_out = true;
  Trial trial;
  trial.run(kReference.linear, p);
  EXPECT_EQ(bits(c.y), bits(c.v.bf16("yb")));
  p.grid_out = false;
  p.parts[0] = {rows_of(std::as_const(c.x), kCols), c.matrix(Encoding::f32), {{}, rows_of(c.f, kOut)}};
  trial.run(kReference.linear, p);
  EXPECT_EQ(bits(c.f), bits(c.v.f32("yf")));
}

// The rows of a long batch, in order and each as if it were alone.
TEST(LinearReference, NoRowDependsOnTheOthers) {
  constexpr std::int32_t kMany = 150;
  LinearCase c;
  std::mt19937 rng(3);
  std::vector<Bf16> x(kMany * kCols);
  for (Bf16& v : x) v = to_bf16(std::normal_distribution<float>()(rng));
  std::vector<Bf16> together(kMany * kOut), alone(kOut);
  Linear p = {};
  p.count = 1;
  p.parts[0] = {rows_of(std::as_const(x), kCols), c.matrix(Encoding::mxfp4), {rows_of(together, kOut), {}}};
  Trial trial;
  trial.run(kReference.linear, p);
  for (const std::int64_t t : {0, 63, 64, 127, 149}) {
    Linear one = p;
    one.parts[0].x = {x.data() + t * kCols, 1, kCols, kCols};
    one.parts[0].y.bf16 = rows_of(alone, kOut);
    trial.run(kReference.linear, one);
    for (std::int64_t n = 0; n < kOut; ++n) ASSERT_EQ(alone[n].bits, together[t * kOut + n].bits);
  }
}

TEST(LinearReference, PartsMayBeColumnRangesOfOneMatrix) {
  LinearCase c;  // x·w = left half·left half + right half·right half, as f32 sums of exact small numbers
  for (std::size_t i = 0; i < c.x.size(); ++i) c.x[i] = to_bf16(static_cast<float>(i % 7) - 3);
  for (std::size_t i = 0; i < c.wf.size(); ++i) c.wf[i] = static_cast<float>(i % 11) - 5;
  std::vector<float> left(kOut * 48), right(kOut * 48), l(kRows * kOut), r(kRows * kOut);
  for (std::int64_t n = 0; n < kOut; ++n) {
    std::copy_n(c.wf.data() + n * kCols, 48, left.data() + n * 48);
    std::copy_n(c.wf.data() + n * kCols + 48, 48, right.data() + n * 48);
  }
  Linear p = {};
  p.count = 3;
  p.parts[0] = {rows_of(std::as_const(c.x), kCols), c.matrix(Encoding::f32), {{}, rows_of(c.f, kOut)}};
  Weight half = c.matrix(Encoding::f32);
  half.cols = 48;
  half.codes = bytes(left);
  p.parts[1] = {{c.x.data(), kRows, 48, kCols}, half, {{}, rows_of(l, kOut)}};
  half.codes = bytes(right);
  p.parts[2] = {{c.x.data() + 48, kRows, 48, kCols}, half, {{}, rows_of(r, kOut)}};
  Trial().run(kReference.linear, p);
  for (std::size_t i = 0; i < l.size(); ++i) ASSERT_EQ(c.f[i], l[i] + r[i]);
}

}  // namespace
}  // namespace manyspan::kernels
