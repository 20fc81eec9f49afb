// state_met — what the layers of a stage make, go on with and look up, in words.
//
// Spec       model.md 3
#pragma once

#include <string>
#include <vector>

#include "prepared/placement.h"
#include "spec/layers.h"

namespace manyspan {

// "L0-4", "L0-4, L21-25": both ends are inside, as people say it.
std::string shown_layers(const StageLayers& layers);

// One line for each thing, in the order of layers: "Engram at L1", "L2 publishes KV and selections for L3-7",
// "L5-7 continue L2's KV and selections", "L24 reselects over L20's KV for L25-27".
std::vector<std::string> state_met(const Schedule& schedule, const StageLayers& layers);

}  // namespace manyspan
