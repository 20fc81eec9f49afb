#include <gtest/gtest.h>

#include "kernels/table.h"
#include "kernels/trial.h"
#include "kernels/vectors.h"

namespace manyspan::kernels {
namespace {

constexpr std::int64_t kStreams = 4, kDim = 32;
constexpr std::int32_t kRows = 11;

Weight f32_matrix(const std::vector<float>& v, std::int32_t rows) {
  Weight w = {};
  w.codes = reinterpret_cast<const std::byte*>(v.data());
  w.rows = rows;
  w.cols = static_cast<std::int32_t>(v.size()) / rows;
  w.encoding = Encoding::f32;
  return w;
}

TEST(MixReference, EqualsTheOracleBitForBit) {
  const Vectors v("mix");
  const auto streams = v.bf16("streams");
  const auto fn = v.f32("fn"), base = v.f32("base"), scale = v.f32("scale");
  std::vector<float> pre(kRows * 4), post(kRows * 4), comb(kRows * 16);
  Mix p = {};
  p.streams = rows_of(streams, kStreams * kDim);
  p.streams_count = kStreams;
  p.fn = f32_matrix(fn, 24);
  p.base = base.data(), p.scale = scale.data();
  p.eps = 1e-20f, p.mix_eps = 1e-6f, p.iterations = 20;
  p.pre = rows_of(pre, 4), p.post = rows_of(post, 4), p.comb = rows_of(comb, 16);
  Trial().run(kReference.mix, p);
  EXPECT_EQ(bits(pre), bits(v.f32("pre")));
  EXPECT_EQ(bits(post), bits(v.f32("post")));
  EXPECT_EQ(bits(comb), bits(v.f32("comb")));
}

struct TurnCase {
  Vectors v{"turn"};
  std::vector<Bf16> streams = v.bf16("streams"), o = v.bf16("o"), gain = v.bf16("gain");
  std::vector<float> post = v.f32("post"), comb = v.f32("comb"), pre = v.f32("pre");
  std::vector<Bf16> mean = std::vector<Bf16>(kRows * kDim, Bf16{0x7fc1}), x = mean, x8 = mean;

  Turn params() {
    Turn p = {};
    p.streams = rows_of(streams, kStreams * kDim);
    p.streams_count = kStreams;
    p.o = rows_of(std::as_const(o), kDim);
    p.post = rows_of(std::as_const(post), 4), p.comb = rows_of(std::as_const(comb), 16);
    p.mean = rows_of(mean, kDim);
    p.pre = rows_of(std::as_const(pre), 4);
    p.gain = gain.data(), p.eps = 1e-20f;
    p.x = rows_of(x, kDim), p.x8 = rows_of(x8, kDim);
    return p;
  }
};

TEST(TurnReference, EqualsTheOracleBitForBit) {
  TurnCase c;
  Trial().run(kReference.turn, c.params());
  EXPECT_EQ(bits(c.streams), bits(c.v.bf16("out")));
  EXPECT_EQ(bits(c.mean), bits(c.v.bf16("mean")));
  EXPECT_EQ(bits(c.x), bits(c.v.bf16("x")));
  EXPECT_EQ(bits(c.x8), bits(c.v.bf16("x8")));
}

TEST(TurnReference, ItsTwoHalvesGiveWhatTheWholeGives) {
  TurnCase c;
  Turn first = c.params(), second = c.params();
  first.pre.data = nullptr, first.mean.data = nullptr;
  second.o.data = nullptr, second.x.data = nullptr;
  Trial trial;
  trial.run(kReference.turn, first);
  EXPECT_EQ(c.x8[0].bits, 0x7fc1);
  trial.run(kReference.turn, second);
  EXPECT_EQ(bits(c.streams), bits(c.v.bf16("out")));
  EXPECT_EQ(bits(c.mean), bits(c.v.bf16("mean")));
  EXPECT_EQ(bits(c.x8), bits(c.v.bf16("x8")));
}

TEST(TurnReference, RowsPastTheUsedOnesStayAsTheyWere) {
  TurnCase c;
  const auto before = c.streams;
  const std::int32_t used = 7;
  Turn p = c.params();
  p.used = &used;
  Trial().run(kReference.turn, p);
  const auto out = c.v.bf16("out");
  for (std::size_t i = 0; i < out.size(); ++i) {
    EXPECT_EQ(c.streams[i].bits, i < 7 * kStreams * kDim ? out[i].bits : before[i].bits) << i;
  }
  EXPECT_EQ(c.x[7 * kDim].bits, 0x7fc1);
}

}  // namespace
}  // namespace manyspan::kernels
