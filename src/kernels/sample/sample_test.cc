#include "kernels/sample/sample.h"

#include <cmath>
#include <limits>
#include <set>

#include <gtest/gtest.h>

#include "kernels/table.h"
#include "kernels/trial.h"

namespace manyspan::kernels {
namespace {

constexpr Next kPlain = {1, 1, 0, 0, 11, {0}};

struct Drawn {
  std::vector<std::int32_t> ids;
  std::vector<float> logprobs;
};

// `draws` tokens of consecutive positions, all from one row of logits.
Drawn draw_from(const std::vector<float>& logits, Next wish, int draws) {
  std::vector<float> all;
  std::vector<Next> wishes;
  for (int i = 0; i < draws; ++i) {
    all.insert(all.end(), logits.begin(), logits.end());
    wish.position = {i};
    wishes.push_back(wish);
  }
  std::vector<TokenId> ids(draws);
  std::vector<float> logprobs(draws);
  Sample p = {};
  p.logits = rows_of(std::as_const(all), static_cast<std::int64_t>(logits.size()));
  p.wishes = wishes.data(), p.id = ids.data(), p.logprob = logprobs.data();
  Trial().run(kReference.sample, p);
  Drawn out;
  for (const TokenId id : ids) out.ids.push_back(id.value);
  out.logprobs = logprobs;
  return out;
}

std::set<std::int32_t> seen(const std::vector<float>& logits, Next wish) {
  const Drawn d = draw_from(logits, wish, 3000);
  return {d.ids.begin(), d.ids.end()};
}

TEST(Sample, WithoutTemperatureTheFirstLargestWins) {
  Next wish = kPlain;
  wish.temperature = 0;
  EXPECT_EQ(draw_from({1, 7, -3, 7, 2}, wish, 1).ids[0], 1);
  EXPECT_EQ(draw_from({std::numeric_limits<float>::quiet_NaN(), 1, 2}, wish, 1).ids[0], 2);
}

TEST(Sample, FrequenciesFollowTheSoftmaxAtThatTemperature) {
  const std::vector<float> logits = {0, 1, 2, -1};
  for (const float temperature : {0.5f, 1.0f, 2.0f}) {
    Next wish = kPlain;
    wish.temperature = temperature;
    const Drawn d = draw_from(logits, wish, 20000);
    double total = 0;
    for (const float l : logits) total += std::exp(l / temperature);
    for (int id = 0; id < 4; ++id) {
      const double share = static_cast<double>(std::count(d.ids.begin(), d.ids.end(), id)) / 20000;
      EXPECT_NEAR(share, std::exp(logits[id] / temperature) / total, 0.015) << temperature;
    }
  }
}

// p = .4, .3, .2, .1 in the order of ids 2, 0, 3, 1
const std::vector<float> kFour = {std::log(.3f), std::log(.1f), std::log(.4f), std::log(.2f)};

TEST(Sample, EachCutLeavesWhatItSays) {
  Next wish = kPlain;
  EXPECT_EQ(seen(kFour, wish), (std::set<std::int32_t>{0, 1, 2, 3}));
  wish.top_k = 2;
  EXPECT_EQ(seen(kFour, wish), (std::set<std::int32_t>{0, 2}));
  wish = kPlain, wish.top_p = 0.75f;  // .4 + .3 fall short, the third passes
  EXPECT_EQ(seen(kFour, wish), (std::set<std::int32_t>{0, 2, 3}));
  wish = kPlain, wish.top_p = 1e-6f;
  EXPECT_EQ(seen(kFour, wish), (std::set<std::int32_t>{2}));
  wish = kPlain, wish.min_p = 0.6f;  // of .4: .24
  EXPECT_EQ(seen(kFour, wish), (std::set<std::int32_t>{0, 2}));
}

TEST(Sample, TopPIsAShareOfWhatTopKLeaves) {
  Next wish = kPlain;
  wish.top_k = 3;
  wish.top_p = 0.75f;  // .675 of the .9 that are left: two suffice; .75 of the whole would take a third
  EXPECT_EQ(seen(kFour, wish), (std::set<std::int32_t>{0, 2}));
}

TEST(Sample, EqualProbabilitiesAreCutByTheLowerId) {
  Next wish = kPlain;
  wish.top_k = 2;
  EXPECT_EQ(seen({1, 1, 1, 1}, wish), (std::set<std::int32_t>{0, 1}));
}

TEST(Sample, SeedAndPositionAloneDecideTheDraw) {
  Next wish = kPlain;
  const Drawn once = draw_from(kFour, wish, 50), again = draw_from(kFour, wish, 50);
  EXPECT_EQ(once.ids, again.ids);
  wish.seed = 12;
  EXPECT_NE(once.ids, draw_from(kFour, wish, 50).ids);
}

// The draws are part of what a seed means: they may not change.
TEST(Sample, DrawsAreFixedForEver) {
  EXPECT_EQ(draw(0u, {0}), 0x14e0dba5e9a32fp-53);
  EXPECT_EQ(draw(0u, {1}), 0x16705460be8829p-53);
  EXPECT_EQ(draw(1u, {0}), 0xbc835610e872cp-53);
  EXPECT_EQ(draw(9223372036854775815u, {1000000}), 0x21aa957dc33e2p-53);
  double sum = 0;
  for (int i = 0; i < 10000; ++i) {
    const double d = draw(5, {i});
    ASSERT_TRUE(d >= 0 && d < 1);
    sum += d;
  }
  EXPECT_NEAR(sum / 10000, 0.5, 0.01);
}

TEST(Sample, TheLogProbabilityIsOfTheUncutSoftmaxAtOne) {
  Next wish = kPlain;
  wish.temperature = 0, wish.top_k = 1;
  EXPECT_NEAR(draw_from(kFour, wish, 1).logprobs[0], std::log(.4), 1e-6);
}

TEST(Sample, BrokenLogitsStillGiveAnId) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  for (const auto& logits :
       {std::vector<float>{nan, nan, nan}, {inf, 1, inf}, {-inf, -inf, -inf}, {nan, 1, inf}}) {
    const std::int32_t id = draw_from(logits, kPlain, 1).ids[0];
    EXPECT_TRUE(id >= 0 && id < 3);
  }
}

}  // namespace
}  // namespace manyspan::kernels
