// placement — which layers run on which device: how a model is cut into stages.
//
// A stage is a device and its ranges of layers: one range, or several that the streams come back for (two laps).
// A step visits ranges in the order of layers, wherever they lie.
//
// Errors     invalid: what is wrong with a cut, in one sentence
// Threads    plain data
// Spec       house.md 0.5; performance.md 5
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace manyspan {

struct LayerRange {
  std::int32_t first, end;  // layers first .. end - 1

  bool has(LayerId layer) const { return layer.value >= first && layer.value < end; }
  friend bool operator==(const LayerRange&, const LayerRange&) = default;
};

// The layers of one stage, ascending.
struct StageLayers {
  std::vector<LayerRange> ranges;

  bool has(LayerId layer) const;
  std::int32_t count() const;
  // How many of them come before `layer`: its place among the stage's layers.
  std::int32_t place(LayerId layer) const;
};

StageLayers all_layers(std::int32_t layers);

struct Placement {
  struct Stage {
    std::int32_t device;  // its place in the list of devices; a device has one stage
    StageLayers layers;
  };
  std::vector<Stage> stages;
};

// A range at its time in a step. Ranges that follow each other on one stage are one visit.
struct Visit {
  std::int32_t stage;
  LayerRange range;
  friend bool operator==(const Visit&, const Visit&) = default;
};
std::vector<Visit> visits(const Placement& placement);

// One stage on device 0.
Placement whole_placement(std::int32_t layers);
// `ends`: where each stage ends, exclusive, as {5, 10, .. 40}; stage i is on device i.
Result<Placement> placement_of_layer_ends(std::span<const std::int32_t> ends, std::int32_t layers,
                                          std::int32_t devices);

// Every layer in one place, every device known and used once.
Result<void> check_placement(const Placement& placement, std::int32_t layers, std::int32_t devices);

}  // namespace manyspan
