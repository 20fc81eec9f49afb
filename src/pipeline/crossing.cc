#include "pipeline/crossing.h"

#include <algorithm>
#include <map>
#include <string>

namespace manyspan {
namespace {

// Where candidates are written; -1: nowhere.
std::int32_t candidate_source(const Schedule& schedule) {
  for (const LayerSchedule& plan : schedule.layers) {
    if (plan.writes_candidates) return plan.layer.value;
  }
  return -1;
}

// The stages, but its own, that read a source's rows.
std::set<std::int32_t> readers(const Schedule& schedule, std::span<const Visit> visits, LayerId source) {
  std::set<std::int32_t> stages;
  for (const LayerSchedule& plan : schedule.layers) {
    if (plan.kv_source == source) stages.insert(visits[visit_of(visits, plan.layer)].stage);
  }
  stages.erase(visits[visit_of(visits, source)].stage);
  return stages;
}

}  // namespace

std::size_t visit_of(std::span<const Visit> visits, LayerId layer) {
  return std::find_if(visits.begin(), visits.end(), [&](const Visit& v) { return v.range.has(layer); }) -
         visits.begin();
}

std::vector<Crossing> crossings(const Schedule& schedule, std::span<const Visit> visits) {
  std::vector<Crossing> all(visits.size());
  const std::int32_t candidates = candidate_source(schedule);
  for (std::size_t v = 1; v < visits.size(); ++v) {
    const std::int32_t first = visits[v].range.first;
    for (const LayerSchedule& plan : schedule.layers) {
      if (plan.layer.value < first) continue;
      if (plan.index_source.value >= 0 && plan.index_source.value < first) all[v].selection = true;
      if (plan.reads_candidates && candidates < first) all[v].candidates = true;
    }
  }
  for (const LayerSchedule& plan : schedule.layers) {
    if (!plan.is_kv_source) continue;
    // Along from visit to visit until the last stage that keeps a copy has been reached.
    std::set<std::int32_t> waiting = readers(schedule, visits, plan.layer);
    for (std::size_t v = visit_of(visits, plan.layer) + 1; !waiting.empty(); ++v) {
      all[v].published.insert(plan.layer.value);
      if (waiting.erase(visits[v].stage) != 0) all[v].appended.insert(plan.layer.value);
    }
  }
  return all;
}

Result<void> check_supply(const Schedule& schedule, std::span<const Visit> visits,
                          std::span<const Crossing> crossings) {
  std::map<std::int32_t, std::set<std::int32_t>> rows;  // by stage: sources whose new rows it has
  std::set<std::int32_t> travelling;                    // sources whose new rows the carry has
  std::int32_t selection = -1;                          // whose selection the carry has
  bool candidates = false;
  for (std::size_t v = 0; v < visits.size(); ++v) {
    const Visit& visit = visits[v];
    const Crossing& crossing = crossings[v];
    if (v > 0) {
      if (!crossing.selection) selection = -1;
      candidates = candidates && crossing.candidates;
      std::set<std::int32_t> kept;
      std::set_intersection(travelling.begin(), travelling.end(), crossing.published.begin(),
                            crossing.published.end(), std::inserter(kept, kept.end()));
      travelling = kept;
      for (const std::int32_t source : crossing.appended) {
        if (travelling.contains(source)) rows[visit.stage].insert(source);
      }
    }
    for (std::int32_t l = visit.range.first; l < visit.range.end; ++l) {
      const LayerSchedule& plan = schedule.layers[l];
      const auto lacks = [&](const std::string& what) {
        return Error(Fault::invalid, "layer " + std::to_string(l) + " on stage " +
                                         std::to_string(visit.stage) + " lacks " + what);
      };
      if (plan.is_kv_source) rows[visit.stage].insert(l), travelling.insert(l);
      if (plan.kv_source.value >= 0 && !rows[visit.stage].contains(plan.kv_source.value)) {
        return lacks("the rows of layer " + std::to_string(plan.kv_source.value));
      }
      if (plan.reads_candidates && !candidates) return lacks("the candidates");
      if (plan.writes_candidates) candidates = true;
      if (plan.is_index_source) selection = l;
      if (plan.index_source.value >= 0 && selection != plan.index_source.value) {
        return lacks("the selection of layer " + std::to_string(plan.index_source.value));
      }
    }
  }
  return {};
}

std::string describe(const Schedule& schedule, const Visit& visit, const Crossing& crossing) {
  std::string text = "streams, pre";
  if (crossing.selection) {
    // That of the first layer here, or above, that uses one from below.
    for (std::size_t l = visit.range.first; l < schedule.layers.size(); ++l) {
      const std::int32_t of = schedule.layers[l].index_source.value;
      if (of < 0 || of >= visit.range.first) continue;
      text += ", selection of " + std::to_string(of);
      break;
    }
  }
  if (crossing.candidates) text += ", candidates";
  for (const std::int32_t source : crossing.published) text += ", new rows of " + std::to_string(source);
  return text;
}

}  // namespace manyspan
