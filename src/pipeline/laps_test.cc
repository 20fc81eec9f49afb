#include "pipeline/laps.h"

#include <gtest/gtest.h>

namespace manyspan {
namespace {

std::vector<Visit> visits_of(std::vector<std::int32_t> stages) {
  std::vector<Visit> visits;
  for (const std::int32_t stage : stages) {
    const auto layer = static_cast<std::int32_t>(visits.size());
    visits.push_back({stage, {layer, layer + 1}});
  }
  return visits;
}

TEST(Laps, EndWhereAStageIsComeBackTo) {
  EXPECT_EQ(laps_of(visits_of({0, 1, 2})), (std::vector<Lap>{{0, 3}}));
  EXPECT_EQ(laps_of(visits_of({0, 1, 2, 0, 1, 2})), (std::vector<Lap>{{0, 3}, {3, 6}}));
  EXPECT_EQ(laps_of(visits_of({0, 1, 0, 2, 1, 0})), (std::vector<Lap>{{0, 2}, {2, 5}, {5, 6}}));
  EXPECT_EQ(laps_of(visits_of({4})), (std::vector<Lap>{{0, 1}}));
}

TEST(Laps, EveryVisitIsInOne) {
  const std::vector<Lap> laps = laps_of(visits_of({0, 1, 0, 2, 1, 0}));
  for (std::size_t v = 0; v < 6; ++v) {
    const Lap& lap = laps[lap_with(laps, v)];
    EXPECT_TRUE(lap.begin <= v && v < lap.end) << v;
  }
}

}  // namespace
}  // namespace manyspan
