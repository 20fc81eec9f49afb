// cut — the cut of a model into one range of layers a device whose slowest stage is as quick as can be.
//
// Devices keep their order; one that would only slow things down gets no layers. Of several such cuts it is the
// one whose stages are most alike, and of those the one that leaves the last devices free: the same question has
// one answer.
//
// Threads    pure functions
// Cost       a stage's cost is asked for once; devices x layers² steps
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "prepared/placement.h"

namespace manyspan {

struct StageCost {
  double seconds;
  bool fits;
};

// Nothing where no cut fits.
std::optional<Placement> best_cut(std::int32_t layers, std::int32_t devices,
                                  const std::function<StageCost(std::int32_t device, LayerRange)>& cost);

}  // namespace manyspan
