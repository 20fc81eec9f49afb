#include "pipeline/cut.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace manyspan {
namespace {

struct Case {
  std::vector<double> layers, speeds, rooms;

  double work(LayerRange r) const {
    double sum = 0;
    for (std::int32_t l = r.first; l < r.end; ++l) sum += layers[l];
    return sum;
  }
  StageCost cost(std::int32_t device, LayerRange r) const {
    return {work(r) / speeds[device], work(r) <= rooms[device]};
  }
};

// Every cut tried: the least time of the slowest stage, -1 where none fits.
double least(const Case& c, std::size_t device, std::int32_t first) {
  const auto count = static_cast<std::int32_t>(c.layers.size());
  if (first == count) return 0;
  if (device == c.speeds.size()) return -1;
  double best = least(c, device + 1, first);
  for (std::int32_t end = first + 1; end <= count; ++end) {
    const StageCost here = c.cost(static_cast<std::int32_t>(device), {first, end});
    const double rest = least(c, device + 1, end);
    if (!here.fits || rest < 0) continue;
    const double slowest = std::max(here.seconds, rest);
    if (best < 0 || slowest < best) best = slowest;
  }
  return best;
}

std::optional<Placement> cut(const Case& c) {
  return best_cut(static_cast<std::int32_t>(c.layers.size()), static_cast<std::int32_t>(c.speeds.size()),
                  [&](std::int32_t device, LayerRange r) { return c.cost(device, r); });
}

std::vector<std::int32_t> ends(const Placement& p) {
  std::vector<std::int32_t> all;
  for (const Placement::Stage& s : p.stages) all.push_back(s.layers.ranges[0].end);
  return all;
}

TEST(Cut, TheSlowestStageIsAsQuickAsCanBe) {
  std::mt19937 random(11);
  const auto drawn = [&](int least, int most) {
    return static_cast<double>(least + static_cast<int>(random() % static_cast<unsigned>(most - least)));
  };
  int fitting = 0;
  for (int round = 0; round < 300; ++round) {
    Case c;
    for (int l = 0; l < 1 + round % 8; ++l) c.layers.push_back(drawn(1, 9));
    for (int d = 0; d < 1 + round % 4; ++d) {
      c.speeds.push_back(drawn(1, 5));
      c.rooms.push_back(drawn(3, 30));
    }
    const double wanted = least(c, 0, 0);
    const std::optional<Placement> found = cut(c);
    ASSERT_EQ(found.has_value(), wanted >= 0) << round;
    if (!found) continue;
    ++fitting;
    const auto layers = static_cast<std::int32_t>(c.layers.size());
    ASSERT_TRUE(check_placement(*found, layers, static_cast<std::int32_t>(c.speeds.size())).ok());
    double slowest = 0;
    for (const Placement::Stage& s : found->stages) {
      const StageCost here = c.cost(s.device, s.layers.ranges[0]);
      EXPECT_TRUE(here.fits);
      slowest = std::max(slowest, here.seconds);
    }
    EXPECT_DOUBLE_EQ(slowest, wanted) << round;
  }
  EXPECT_GT(fitting, 100);
  EXPECT_LT(fitting, 300);
}

TEST(Cut, EqualLayersOnEqualDevicesAreCutEvenly) {
  const Case c{std::vector<double>(40, 1), std::vector<double>(8, 1), std::vector<double>(8, 40)};
  EXPECT_EQ(ends(*cut(c)), (std::vector<std::int32_t>{5, 10, 15, 20, 25, 30, 35, 40}));
}

// One layer of 6 takes as long whatever the others do; those are cut alike nevertheless.
TEST(Cut, StagesAreAlikeWhereTheSlowestLeavesAChoice) {
  const Case c{{6, 1, 1, 1, 1}, {1, 1, 1}, {9, 9, 9}};
  EXPECT_EQ(ends(*cut(c)), (std::vector<std::int32_t>{1, 3, 5}));
}

TEST(Cut, ADeviceThatWouldOnlySlowThingsDownGetsNoLayers) {
  const Case c{{1, 1, 1, 1}, {4, 0.1, 4}, {9, 9, 9}};
  const Placement p = *cut(c);
  ASSERT_EQ(p.stages.size(), 2u);
  EXPECT_EQ(p.stages[1].device, 2);
  EXPECT_EQ(ends(p), (std::vector<std::int32_t>{2, 4}));
}

TEST(Cut, ThereIsNoneWhereNothingFits) {
  EXPECT_FALSE(cut({{1, 1, 4}, {1, 1}, {3, 3}}).has_value());
  EXPECT_FALSE(cut({{2, 2, 2}, {1, 1}, {3, 3}}).has_value());
}

}  // namespace
}  // namespace manyspan
