#include "pipeline/state_met.h"

#include <functional>

namespace manyspan {
namespace {

std::string shown(std::int32_t first, std::int32_t end) {
  const std::string from = "L" + std::to_string(first);
  return end - first == 1 ? from : from + "-" + std::to_string(end - 1);
}

std::string owner(LayerId layer) { return "L" + std::to_string(layer.value) + "'s"; }

// " for L3-7": the layers above that `reads` holds for; nothing where there are none.
std::string readers(const Schedule& schedule, LayerId above,
                    const std::function<bool(const LayerSchedule&)>& reads) {
  std::string text;
  const auto count = static_cast<std::int32_t>(schedule.layers.size());
  for (std::int32_t l = above.value + 1; l < count; ++l) {
    if (!reads(schedule.layers[l])) continue;
    std::int32_t end = l + 1;
    while (end < count && reads(schedule.layers[end])) ++end;
    text += (text.empty() ? " for " : ", ") + shown(l, end);
    l = end;
  }
  return text;
}

std::string published(const Schedule& schedule, const LayerSchedule& plan) {
  const std::string rows =
      readers(schedule, plan.layer, [&](const LayerSchedule& l) { return l.kv_source == plan.layer; });
  const std::string selections =
      readers(schedule, plan.layer, [&](const LayerSchedule& l) { return l.index_source == plan.layer; });
  std::string text = "L" + std::to_string(plan.layer.value) + " publishes KV";
  if (rows == selections) {
    text += " and selections" + rows;
  } else {
    text += rows + ", selections" + selections;
  }
  if (plan.writes_candidates) {
    text += ", candidates" +
            readers(schedule, plan.layer, [](const LayerSchedule& l) { return l.reads_candidates; });
  }
  return text;
}

std::string reselected(const Schedule& schedule, const LayerSchedule& plan) {
  return "L" + std::to_string(plan.layer.value) + " reselects over " + owner(plan.kv_source) + " KV" +
         readers(schedule, plan.layer, [&](const LayerSchedule& l) { return l.index_source == plan.layer; });
}

bool goes_on_like(const LayerSchedule& a, const LayerSchedule& b) {
  return !b.is_index_source && a.kv_source == b.kv_source && a.index_source == b.index_source && b.engram < 0;
}

std::string continued(const LayerSchedule& plan, std::int32_t first, std::int32_t end) {
  const std::string layers = shown(first, end) + (end - first == 1 ? " continues " : " continue ");
  if (plan.kv_source == plan.index_source) return layers + owner(plan.kv_source) + " KV and selections";
  return layers + owner(plan.kv_source) + " KV and " + owner(plan.index_source) + " selections";
}

}  // namespace

std::string shown_layers(const StageLayers& layers) {
  std::string text;
  for (const LayerRange& range : layers.ranges)
    text += (text.empty() ? "" : ", ") + shown(range.first, range.end);
  return text;
}

std::vector<std::string> state_met(const Schedule& schedule, const StageLayers& layers) {
  std::vector<std::string> lines;
  for (const LayerRange& range : layers.ranges) {
    for (std::int32_t l = range.first; l < range.end; ++l) {
      const LayerSchedule& plan = schedule.layers[l];
      if (plan.engram >= 0) lines.push_back("Engram at L" + std::to_string(l));
      if (plan.is_kv_source) {
        lines.push_back(published(schedule, plan));
      } else if (plan.is_index_source) {
        lines.push_back(reselected(schedule, plan));
      } else if (plan.ratio > 0) {
        std::int32_t end = l + 1;
        while (end < range.end && goes_on_like(plan, schedule.layers[end])) ++end;
        // What is made here need not be told; nor whose KV a layer of here has selected from.
        if (!layers.has(plan.index_source)) lines.push_back(continued(plan, l, end));
        l = end - 1;
      }
    }
  }
  return lines;
}

}  // namespace manyspan
