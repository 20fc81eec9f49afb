#include "prepared/placement.h"

#include <algorithm>
#include <set>
#include <string>

namespace manyspan {
namespace {

Error invalid(std::string what) { return Error(Fault::invalid, std::move(what)); }

std::string range_name(const LayerRange& r) {
  return "layers " + std::to_string(r.first) + " to " + std::to_string(r.end - 1);
}

}  // namespace

bool StageLayers::has(LayerId layer) const {
  return std::any_of(ranges.begin(), ranges.end(), [&](const LayerRange& r) { return r.has(layer); });
}

std::int32_t StageLayers::count() const {
  std::int32_t layers = 0;
  for (const LayerRange& r : ranges) layers += r.end - r.first;
  return layers;
}

std::int32_t StageLayers::place(LayerId layer) const {
  std::int32_t before = 0;
  for (const LayerRange& r : ranges) before += std::clamp(layer.value - r.first, 0, r.end - r.first);
  return before;
}

StageLayers all_layers(std::int32_t layers) { return {{{0, layers}}}; }

std::vector<Visit> visits(const Placement& placement) {
  std::vector<Visit> all;
  for (std::size_t s = 0; s < placement.stages.size(); ++s) {
    for (const LayerRange& r : placement.stages[s].layers.ranges) {
      all.push_back({static_cast<std::int32_t>(s), r});
    }
  }
  std::sort(all.begin(), all.end(),
            [](const Visit& a, const Visit& b) { return a.range.first < b.range.first; });
  std::vector<Visit> joined;
  for (const Visit& v : all) {
    if (!joined.empty() && joined.back().stage == v.stage) {
      joined.back().range.end = v.range.end;
    } else {
      joined.push_back(v);
    }
  }
  return joined;
}

Placement whole_placement(std::int32_t layers) { return {{{0, all_layers(layers)}}}; }

Result<Placement> placement_of_layer_ends(std::span<const std::int32_t> ends, std::int32_t layers,
                                          std::int32_t devices) {
  Placement placement;
  std::int32_t before = 0;
  for (const std::int32_t end : ends) {
    if (end <= before) {
      return invalid("layer end " + std::to_string(end) + " is not above " + std::to_string(before) +
                     ", where the stage begins");
    }
    const auto device = static_cast<std::int32_t>(placement.stages.size());
    placement.stages.push_back({device, {{{before, end}}}});
    before = end;
  }
  if (before != layers) {
    return invalid("the last layer end is " + std::to_string(before) + "; the model has " +
                   std::to_string(layers) + " layers");
  }
  TRY(check_placement(placement, layers, devices));
  return placement;
}

Result<void> check_placement(const Placement& placement, std::int32_t layers, std::int32_t devices) {
  if (static_cast<std::int64_t>(placement.stages.size()) > devices) {
    return invalid(std::to_string(placement.stages.size()) + " stages; there are " + std::to_string(devices) +
                   " devices");
  }
  std::set<std::int32_t> used;
  std::vector<LayerRange> all;
  for (const Placement::Stage& stage : placement.stages) {
    if (stage.device < 0 || stage.device >= devices) {
      return invalid("device " + std::to_string(stage.device) + " of " + std::to_string(devices) +
                     " devices: they are numbered from 0");
    }
    if (!used.insert(stage.device).second) {
      return invalid("device " + std::to_string(stage.device) +
                     " has two stages; give one stage both ranges");
    }
    if (stage.layers.ranges.empty()) {
      return invalid("the stage on device " + std::to_string(stage.device) + " has no layers");
    }
    std::int32_t end = 0;
    for (const LayerRange& r : stage.layers.ranges) {
      if (r.first < end || r.end <= r.first) {
        return invalid("device " + std::to_string(stage.device) + ": " + range_name(r) +
                       " do not follow on the range before");
      }
      end = r.end;
      all.push_back(r);
    }
  }
  std::sort(all.begin(), all.end(),
            [](const LayerRange& a, const LayerRange& b) { return a.first < b.first; });
  std::int32_t reached = 0;
  for (const LayerRange& r : all) {
    if (r.first > reached) return invalid(range_name({reached, r.first}) + " are in no stage");
    if (r.first < reached)
      return invalid(range_name({r.first, std::min(reached, r.end)}) + " are in two stages");
    reached = r.end;
  }
  if (reached < layers) return invalid(range_name({reached, layers}) + " are in no stage");
  if (reached > layers) {
    return invalid(range_name({layers, reached}) + " do not exist; the model has " + std::to_string(layers));
  }
  return {};
}

}  // namespace manyspan
