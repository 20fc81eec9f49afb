#include <gtest/gtest.h>

#include "kernels/table.h"
#include "kernels/trial.h"
#include "kernels/vectors.h"

namespace manyspan::kernels {
namespace {

constexpr std::int32_t kExperts = 13, kChosen = 3, kRows = 11;
constexpr std::int32_t kDim = 64, kInner = 32;

Weight mxfp4(const std::vector<std::uint8_t>& codes, const std::vector<std::uint8_t>& scales,
             std::int32_t rows, std::int32_t cols) {
  Weight w = {};
  w.codes = reinterpret_cast<const std::byte*>(codes.data());
  w.scales = reinterpret_cast<const std::byte*>(scales.data());
  w.rows = rows, w.cols = cols, w.encoding = Encoding::mxfp4;
  w.next_codes = code_bytes(w), w.next_scales = scale_bytes(w);
  return w;
}

struct MoeCase {
  Vectors v{"moe"};
  TrialBatch batch{{{0, {3}, 0, 4}, {1, {0}, 0, 7}}};
  std::vector<float> logits = v.f32("logits"), bias = v.f32("bias"), bias_vl = v.f32("bias_vl");
  std::vector<Bf16> x8 = v.bf16("x8");
  std::vector<std::uint8_t> up = v.u8("up_codes"), up_scales = v.u8("up_scales"), down = v.u8("down_codes"),
                            down_scales = v.u8("down_scales"), shared_up = v.u8("shared_up_codes"),
                            shared_up_scales = v.u8("shared_up_scales"),
                            shared_down = v.u8("shared_down_codes"),
                            shared_down_scales = v.u8("shared_down_scales");
  std::vector<std::int32_t> expert, plan, picks;
  std::vector<float> weight, weights;
  std::vector<Bf16> y;

  MoeCase() {
    const std::vector<std::uint8_t> marks = v.u8("marks");
    std::copy(marks.begin(), marks.end(), batch.marks().begin());
    const std::int64_t rows = batch.rows();
    logits.resize(rows * kExperts), x8.resize(rows * kDim);
    expert.assign(rows * kChosen, -7), picks = expert;
    plan.assign(kExperts + 1 + rows * kChosen, -7);
    weight.assign(rows * kChosen, -7), weights = weight;
    y.assign(rows * kDim, Bf16{0x7fc1});
  }

  Route route() {
    Route p = {};
    p.logits = rows_of(std::as_const(logits), kExperts);
    p.bias = bias.data(), p.bias_vl = bias_vl.data(), p.batch = batch.view();
    p.temperature = 1.7f, p.route_scale = 1.5f, p.normalise = true;
    p.out = {expert.data(), weight.data(), plan.data(), kChosen};
    p.picks_tap = rows_of(picks, kChosen), p.weights_tap = rows_of(weights, kChosen);
    return p;
  }
  Experts experts() {
    Experts p = {};
    p.x8 = rows_of(std::as_const(x8), kDim), p.batch = batch.view();
    p.routes = {expert.data(), weight.data(), plan.data(), kChosen};
    p.expert_count = kExperts;
    p.gate_up = mxfp4(up, up_scales, 2 * kInner, kDim), p.down = mxfp4(down, down_scales, kDim, kInner);
    p.shared_gate_up = mxfp4(shared_up, shared_up_scales, 2 * kInner, kDim);
    p.shared_down = mxfp4(shared_down, shared_down_scales, kDim, kInner);
    p.limit = 1.5f;
    p.y = rows_of(y, kDim);
    return p;
  }
};

TEST(RouteReference, PicksAndWeightsEqualTheOracle) {
  MoeCase c;
  Trial().run(kReference.route, c.route());
  EXPECT_EQ(c.picks[kRows * kChosen], -7);
  c.picks.resize(kRows * kChosen), c.weights.resize(c.picks.size());
  EXPECT_EQ(c.picks, c.v.i32("experts"));
  EXPECT_EQ(bits(c.weights), bits(c.v.f32("weights")));
}

TEST(RouteReference, TheListHoldsEachPairOnceByExpertAndThenByRow) {
  MoeCase c;
  Trial().run(kReference.route, c.route());
  EXPECT_EQ(c.plan[0], 0);
  EXPECT_EQ(c.plan[kExperts], kRows * kChosen);
  const std::int32_t* list = c.plan.data() + kExperts + 1;
  for (std::int32_t e = 0; e < kExperts; ++e) {
    for (std::int32_t i = c.plan[e]; i < c.plan[e + 1]; ++i) {
      EXPECT_EQ(c.expert[list[i]], e);
      if (i > c.plan[e]) {
        EXPECT_LT(list[i - 1], list[i]);
      }
    }
  }
  for (std::int32_t t = 0; t < kRows; ++t) {
    EXPECT_TRUE(std::is_sorted(&c.expert[t * kChosen], &c.expert[t * kChosen] + kChosen));
    for (std::int32_t j = 0; j < kChosen; ++j) {  // the same choices in both orders
      const auto* pick =
          std::find(&c.picks[t * kChosen], &c.picks[t * kChosen] + kChosen, c.expert[t * kChosen + j]);
      EXPECT_EQ(c.weight[t * kChosen + j], c.weights[pick - c.picks.data()]);
    }
  }
}

TEST(RouteReference, EqualScoresGoToTheLowerExpert) {
  MoeCase c;
  std::fill(c.logits.begin(), c.logits.end(), 0.5f);
  std::fill(c.bias.begin(), c.bias.end(), 0.0f);
  c.bias_vl = c.bias;
  Trial().run(kReference.route, c.route());
  EXPECT_EQ(std::vector<std::int32_t>(c.picks.begin(), c.picks.begin() + 3),
            (std::vector<std::int32_t>{0, 1, 2}));
}

TEST(ExpertsReference, EqualsTheOracleBitForBit) {
  MoeCase c;
  Trial trial;
  trial.run(kReference.route, c.route());
  trial.run(kReference.experts, c.experts());
  EXPECT_EQ(c.y.back().bits, 0x7fc1);
  c.y.resize(kRows * kDim);
  EXPECT_EQ(bits(c.y), bits(c.v.bf16("y")));
}

TEST(ExpertsReference, MatricesMayLieInAnyOrder) {
  MoeCase c;
  std::vector<std::int32_t> place(kExperts);
  const auto turn_round = [](std::vector<std::uint8_t>& v) {
    const std::size_t one = v.size() / kExperts;
    for (std::int32_t e = 0; e < kExperts / 2; ++e) {
      std::swap_ranges(v.begin() + e * one, v.begin() + (e + 1) * one, v.end() - (e + 1) * one);
    }
  };
  turn_round(c.up), turn_round(c.up_scales), turn_round(c.down), turn_round(c.down_scales);
  for (std::int32_t e = 0; e < kExperts; ++e) place[e] = kExperts - 1 - e;
  Experts p = c.experts();
  p.place = place.data();
  Trial trial;
  trial.run(kReference.route, c.route());
  trial.run(kReference.experts, p);
  c.y.resize(kRows * kDim);
  EXPECT_EQ(bits(c.y), bits(c.v.bf16("y")));
}

// More rows than are worked on at once, all choosing one expert.
TEST(ExpertsReference, AnExpertMayServeManyRows) {
  MoeCase c;
  constexpr std::int32_t kMany = 150;
  TrialBatch batch({{0, {0}, 0, kMany}});
  std::vector<Bf16> x8(batch.rows() * kDim), y(x8.size());
  for (std::int64_t t = 0; t < kMany; ++t)
    std::copy_n(c.x8.data() + t % kRows * kDim, kDim, x8.data() + t * kDim);
  std::vector<float> logits(batch.rows() * kExperts), weight(batch.rows() * kChosen);
  for (std::int64_t t = 0; t < kMany; ++t) {
    std::copy_n(c.logits.data() + t % kRows * kExperts, kExperts, logits.data() + t * kExperts);
    logits[t * kExperts + 6] = 5000;
    batch.marks()[t] = c.batch.marks()[t % kRows];
  }
  std::vector<std::int32_t> expert(weight.size()), plan(kExperts + 1 + weight.size());
  Route route = c.route();
  route.logits = rows_of(std::as_const(logits), kExperts), route.batch = batch.view();
  route.out = {expert.data(), weight.data(), plan.data(), kChosen};
  route.picks_tap = {}, route.weights_tap = {};
  Experts p = c.experts();
  p.x8 = rows_of(std::as_const(x8), kDim), p.batch = batch.view(), p.routes = route.out,
  p.y = rows_of(y, kDim);
  Trial trial;
  trial.run(kReference.route, route);
  EXPECT_EQ(plan[7] - plan[6], kMany);
  trial.run(kReference.experts, p);
  for (std::int64_t t = kRows; t < kMany; ++t) {
    for (std::int64_t k = 0; k < kDim; ++k) ASSERT_EQ(y[t * kDim + k].bits, y[t % kRows * kDim + k].bits);
  }
}

}  // namespace
}  // namespace manyspan::kernels
