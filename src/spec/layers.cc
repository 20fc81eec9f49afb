#include "spec/layers.h"

#include <algorithm>

namespace manyspan {
namespace {

constexpr LayerId kNone{-1};

std::int32_t place_of(const std::vector<std::int32_t>& list, std::int32_t layer) {
  const auto at = std::find(list.begin(), list.end(), layer);
  return at == list.end() ? -1 : static_cast<std::int32_t>(at - list.begin());
}

// The last of ascending `sources` that is not after `layer`.
LayerId source_at(const std::vector<std::int32_t>& sources, std::int32_t layer) {
  const auto after = std::upper_bound(sources.begin(), sources.end(), layer);
  return after == sources.begin() ? kNone : LayerId{*(after - 1)};
}

bool same_kind(const LayerSchedule& a, const LayerSchedule& b) {
  return a.ratio == b.ratio && a.kv_source == b.kv_source && a.index_source == b.index_source &&
         !a.is_kv_source && !b.is_kv_source && !a.is_index_source && !b.is_index_source && a.engram < 0 &&
         b.engram < 0 && (a.draft_target < 0) == (b.draft_target < 0);
}

std::string role(const LayerSchedule& layer) {
  if (layer.ratio == 0) return "window only";
  std::string text = "ratio " + std::to_string(layer.ratio);
  text += layer.is_kv_source ? ", own rows" : ", rows of " + std::to_string(layer.kv_source.value);
  text += layer.is_index_source ? ", own selection"
                                : ", selection of " + std::to_string(layer.index_source.value);
  if (layer.writes_candidates) text += ", writes candidates";
  if (layer.reads_candidates) text += ", reads candidates";
  return text;
}

}  // namespace

Schedule schedule_of(const Blueprint& b) {
  const std::vector<std::int32_t> targets = b.draft_targets();
  Schedule schedule;
  for (std::int32_t l = 0; l < b.layers; ++l) {
    LayerSchedule layer{};
    layer.layer = LayerId{l};
    layer.ratio = b.compress_ratios[static_cast<std::size_t>(l)];
    layer.kv_source = layer.ratio == 0 ? kNone : source_at(b.kv_sources, l);
    layer.index_source = layer.ratio == 0 ? kNone : source_at(b.index_sources, l);
    layer.is_kv_source = layer.kv_source.value == l;
    layer.is_index_source = layer.index_source.value == l;
    layer.writes_candidates = b.candidate_source == l;
    layer.reads_candidates = b.candidate_source >= 0 && l > b.candidate_source && layer.is_index_source;
    layer.engram = place_of(b.engram.layers, l);
    layer.draft_target = place_of(targets, l);
    schedule.layers.push_back(layer);
  }
  return schedule;
}

std::vector<std::string> describe(const Schedule& schedule) {
  std::vector<std::string> lines;
  const std::vector<LayerSchedule>& layers = schedule.layers;
  for (std::size_t first = 0; first < layers.size();) {
    std::size_t last = first;
    while (last + 1 < layers.size() && same_kind(layers[first], layers[last + 1])) ++last;
    std::string line = first == last ? "layer " + std::to_string(first)
                                     : "layers " + std::to_string(first) + "-" + std::to_string(last);
    line += ": " + role(layers[first]);
    if (layers[first].engram >= 0) line += ", Engram before it";
    if (layers[first].draft_target >= 0) line += ", draft target";
    lines.push_back(std::move(line));
    first = last + 1;
  }
  return lines;
}

}  // namespace manyspan
