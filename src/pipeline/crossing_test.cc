#include "pipeline/crossing.h"

#include <gtest/gtest.h>

namespace manyspan {
namespace {

// The layers of the released model: sources 2, 8, 14 (ratio 2) and 20 (ratio 1), which also writes candidates that
// 24, 28, 32 and 36 read; layers 0 and 1 have a window only.
Schedule released() {
  Schedule schedule;
  std::int32_t source = -1, index = -1;
  for (std::int32_t l = 0; l < 40; ++l) {
    const bool makes = l == 2 || l == 8 || l == 14 || l == 20;
    const bool again = l == 24 || l == 28 || l == 32 || l == 36;
    if (makes) source = l;
    if (makes || again) index = l;
    schedule.layers.push_back({.layer = {l},
                               .ratio = l < 2    ? 0
                                        : l < 20 ? 2
                                                 : 1,
                               .kv_source = {source},
                               .index_source = {index},
                               .is_kv_source = makes,
                               .is_index_source = makes || again,
                               .writes_candidates = l == 20,
                               .reads_candidates = again});
  }
  return schedule;
}

std::vector<Visit> cut(const std::vector<std::int32_t>& ends) {
  return visits(placement_of_layer_ends(ends, 40, static_cast<std::int32_t>(ends.size())).value());
}

TEST(Crossing, IsWhatTheReleasedModelNeedsOnEightDevices) {
  const Schedule schedule = released();
  const std::vector<Visit> v = cut({5, 10, 15, 20, 25, 30, 35, 40});
  const std::vector<Crossing> c = crossings(schedule, v);
  const auto said = [&](std::size_t i) { return describe(schedule, v[i], c[i]); };
  EXPECT_EQ(said(1), "streams, pre, selection of 2, new rows of 2");
  EXPECT_EQ(said(2), "streams, pre, selection of 8, new rows of 8");
  EXPECT_EQ(said(3), "streams, pre, selection of 14, new rows of 14");
  EXPECT_EQ(said(4), "streams, pre");
  EXPECT_EQ(said(5), "streams, pre, selection of 24, candidates, new rows of 20");
  EXPECT_EQ(said(7), "streams, pre, selection of 32, candidates, new rows of 20");
  EXPECT_EQ(c[7].appended, std::set<std::int32_t>{20});
  EXPECT_TRUE(check_supply(schedule, v, c).ok());
}

TEST(Crossing, RowsPassThroughAStageThatHasThemAlready) {
  const Schedule schedule = released();
  // Stage 0 makes the rows of 20 and reads them again in its second lap; they pass stage 0 on their way to stage 2.
  const Placement p = {{{0, {{{0, 22}, {26, 30}}}}, {1, {{{22, 26}}}}, {2, {{{30, 40}}}}}};
  const std::vector<Visit> v = visits(p);
  const std::vector<Crossing> c = crossings(schedule, v);
  EXPECT_EQ(c[2].published, std::set<std::int32_t>{20});
  EXPECT_TRUE(c[2].appended.empty());
  EXPECT_EQ(c[3].appended, std::set<std::int32_t>{20});
  EXPECT_TRUE(check_supply(schedule, v, c).ok());
}

TEST(Crossing, EveryCutIsSupplied) {
  const Schedule schedule = released();
  for (std::int32_t a = 1; a < 39; ++a) {
    for (std::int32_t b = a + 1; b < 40; ++b) {
      const std::vector<Visit> v = cut({a, b, 40});
      const Result<void> supplied = check_supply(schedule, v, crossings(schedule, v));
      ASSERT_TRUE(supplied.ok()) << supplied.error().message();
    }
  }
}

// Each thing that a boundary may forget is missed, by name.
TEST(Crossing, WhatABoundaryForgetsIsMissed) {
  const Schedule schedule = released();
  const std::vector<Visit> v = cut({5, 10, 15, 20, 25, 30, 35, 40});
  const std::vector<Crossing> right = crossings(schedule, v);
  const auto why = [&](auto forget) {
    std::vector<Crossing> c = right;
    forget(c);
    const Result<void> supplied = check_supply(schedule, v, c);
    return supplied.ok() ? "nothing" : supplied.error().message();
  };
  EXPECT_EQ(why([](auto&) {}), "nothing");
  EXPECT_EQ(why([](auto& c) { c[1].selection = false; }),
            "layer 5 on stage 1 lacks the selection of layer 2");
  EXPECT_EQ(why([](auto& c) { c[5].candidates = false; }), "layer 28 on stage 5 lacks the candidates");
  EXPECT_EQ(why([](auto& c) { c[7].candidates = false; }), "layer 36 on stage 7 lacks the candidates");
  EXPECT_EQ(why([](auto& c) { c[3].published.clear(); }), "layer 15 on stage 3 lacks the rows of layer 14");
  EXPECT_EQ(why([](auto& c) { c[6].published.clear(); }), "layer 30 on stage 6 lacks the rows of layer 20");
  EXPECT_EQ(why([](auto& c) { c[6].appended.clear(); }), "layer 30 on stage 6 lacks the rows of layer 20");
  for (std::size_t i = 1; i < right.size(); ++i) {
    for (const std::int32_t source : right[i].published) {
      EXPECT_NE(why([&](auto& c) { c[i].published.erase(source); }), "nothing") << i << " " << source;
    }
  }
}

}  // namespace
}  // namespace manyspan
