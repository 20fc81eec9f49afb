#include "prepared/placement.h"

#include <gtest/gtest.h>

namespace manyspan {
namespace {

TEST(Placement, LayerEndsAreExclusive) {
  const std::vector<std::int32_t> ends = {5, 10, 40};
  const Placement p = placement_of_layer_ends(ends, 40, 3).value();
  ASSERT_EQ(p.stages.size(), 3u);
  EXPECT_EQ(p.stages[1].device, 1);
  EXPECT_EQ(p.stages[1].layers.ranges, (std::vector<LayerRange>{{5, 10}}));
  EXPECT_TRUE(p.stages[2].layers.has({39}));
  EXPECT_FALSE(p.stages[2].layers.has({9}));
}

TEST(Placement, VisitsGoByLayersAndJoinNeighboursOnOneStage) {
  const Placement p = {{{0, {{{0, 4}, {8, 10}}}}, {1, {{{4, 6}, {6, 8}, {10, 12}}}}}};
  EXPECT_EQ(visits(p), (std::vector<Visit>{{0, {0, 4}}, {1, {4, 8}}, {0, {8, 10}}, {1, {10, 12}}}));
  EXPECT_EQ(p.stages[0].layers.count(), 6);
  EXPECT_EQ(p.stages[0].layers.place({9}), 5);
}

TEST(Placement, AWrongCutIsRefusedWithTheReason) {
  const auto why = [](std::vector<std::int32_t> ends, std::int32_t devices) {
    const auto refused = placement_of_layer_ends(ends, 12, devices);
    return refused.ok() ? "taken" : refused.error().message();
  };
  EXPECT_EQ(why({5, 12}, 2), "taken");
  EXPECT_EQ(why({5, 5, 12}, 3), "layer end 5 is not above 5, where the stage begins");
  EXPECT_EQ(why({0, 12}, 3), "layer end 0 is not above 0, where the stage begins");
  EXPECT_EQ(why({5, 11}, 3), "the last layer end is 11; the model has 12 layers");
  EXPECT_EQ(why({5, 13}, 3), "the last layer end is 13; the model has 12 layers");
  EXPECT_EQ(why({}, 3), "the last layer end is 0; the model has 12 layers");
  EXPECT_EQ(why({4, 8, 12}, 2), "3 stages; there are 2 devices");
}

TEST(Placement, EveryLayerIsInOnePlace) {
  const auto why = [](const Placement& p) {
    const Result<void> refused = check_placement(p, 12, 3);
    return refused.ok() ? "taken" : refused.error().message();
  };
  EXPECT_EQ(why({{{2, {{{0, 4}, {8, 12}}}}, {0, {{{4, 8}}}}}}), "taken");
  EXPECT_EQ(why({{{0, {{{0, 4}}}}, {1, {{{5, 12}}}}}}), "layers 4 to 4 are in no stage");
  EXPECT_EQ(why({{{0, {{{0, 6}}}}, {1, {{{5, 12}}}}}}), "layers 5 to 5 are in two stages");
  EXPECT_EQ(why({{{0, {{{0, 6}}}}, {1, {{{6, 11}}}}}}), "layers 11 to 11 are in no stage");
  EXPECT_EQ(why({{{0, {{{0, 6}}}}, {1, {{{6, 14}}}}}}), "layers 12 to 13 do not exist; the model has 12");
  EXPECT_EQ(why({{{0, {{{0, 6}}}}, {0, {{{6, 12}}}}}}),
            "device 0 has two stages; give one stage both ranges");
  EXPECT_EQ(why({{{3, {{{0, 12}}}}}}), "device 3 of 3 devices: they are numbered from 0");
  EXPECT_EQ(why({{{0, {}}, {1, {{{0, 12}}}}}}), "the stage on device 0 has no layers");
  EXPECT_EQ(why({{{0, {{{6, 12}, {0, 6}}}}}}), "device 0: layers 0 to 5 do not follow on the range before");
}

}  // namespace
}  // namespace manyspan
