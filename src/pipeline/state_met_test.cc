#include "pipeline/state_met.h"

#include <fstream>

#include <gtest/gtest.h>

#include "spec/blueprint.h"

namespace manyspan {
namespace {

Schedule release() {
  std::ifstream file(MANYSPAN_SOURCE_DIR "/tests/data/configs/release.json");
  return schedule_of(read_blueprint(std::string(std::istreambuf_iterator<char>(file), {})).value());
}

using Lines = std::vector<std::string>;

TEST(StateMet, IsTheReleasedModelsOnEightDevices) {
  const Schedule schedule = release();
  const std::vector<std::int32_t> ends = {5, 10, 15, 20, 25, 30, 35, 40};
  const Placement p = placement_of_layer_ends(ends, 40, 8).value();
  const auto met = [&](std::size_t stage) { return state_met(schedule, p.stages[stage].layers); };
  EXPECT_EQ(met(0), (Lines{"Engram at L1", "L2 publishes KV and selections for L3-7"}));
  EXPECT_EQ(met(1),
            (Lines{"L5-7 continue L2's KV and selections", "L8 publishes KV and selections for L9-13"}));
  EXPECT_EQ(met(2), (Lines{"L10-13 continue L8's KV and selections", "Engram at L14",
                           "L14 publishes KV and selections for L15-19"}));
  EXPECT_EQ(met(3), (Lines{"L15-19 continue L14's KV and selections"}));
  EXPECT_EQ(met(4), (Lines{"L20 publishes KV for L21-39, selections for L21-23, candidates for L24, L28, "
                           "L32, L36",
                           "L24 reselects over L20's KV for L25-27"}));
  EXPECT_EQ(met(5), (Lines{"L25-27 continue L20's KV and L24's selections",
                           "L28 reselects over L20's KV for L29-31"}));
  EXPECT_EQ(met(6), (Lines{"L30-31 continue L20's KV and L28's selections",
                           "L32 reselects over L20's KV for L33-35"}));
  EXPECT_EQ(met(7),
            (Lines{"L35 continues L20's KV and L32's selections", "L36 reselects over L20's KV for L37-39"}));
}

TEST(StateMet, OfAWholeModelNothingIsContinued) {
  for (const std::string& line : state_met(release(), all_layers(40)))
    EXPECT_EQ(line.find("continue"), std::string::npos) << line;
}

TEST(StateMet, ASecondLapNamesWhatItFindsAgain) {
  const StageLayers laps{{{0, 4}, {22, 23}}};
  EXPECT_EQ(shown_layers(laps), "L0-3, L22");
  EXPECT_EQ(state_met(release(), laps).back(), "L22 continues L20's KV and selections");
}

}  // namespace
}  // namespace manyspan
