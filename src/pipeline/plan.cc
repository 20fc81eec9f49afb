#include "pipeline/plan.h"

#include <set>
#include <string>

#include "base/check.h"
#include "model/cache.h"
#include "model/scratch.h"
#include "pipeline/cut.h"
#include "pipeline/laps.h"
#include "pipeline/state_met.h"
#include "pipeline/transfer.h"

namespace manyspan {
namespace {

constexpr std::int64_t kNumber = sizeof(std::int32_t);

// What crosses with one row, without a box's alignment.
std::int64_t row_bytes(const Blueprint& b, const Crossing& crossing) {
  std::int64_t bytes = 2 * std::int64_t{b.streams} * b.hidden + kNumber * b.streams;
  if (crossing.selection) bytes += kNumber * (b.index_rows + 1);
  if (crossing.candidates) bytes += kNumber * (b.candidate_blocks + 1);
  for (const std::int32_t source : crossing.published) bytes += source_shape(b, {source}).row_bytes();
  return bytes;
}

std::int64_t box_bytes(const Blueprint& b, const Crossing& crossing, const Limits& limits) {
  return static_cast<std::int64_t>(Transfer::box_bytes(b, crossing, limits));
}

// What a stage remembers, as cache.cc takes it.
void count_cache(const PlanModel& m, const Limits& limits, std::int32_t table_sets, StagePlan& stage) {
  const Blueprint& b = m.blueprint;
  const PageGeometry g = PageGeometry::of(b, limits);
  stage.kv_bytes += Cache::table_bytes(g, limits, table_sets);
  const std::int64_t page = kernels::WindowView::layer_bytes(b.head_dim) * stage.layers.count();
  stage.window_bytes = g.kinds[0].width * page;
  stage.kv_bytes += g.kinds[0].pages * page;
  std::set<std::int32_t> sources;  // that somebody here reads
  for (const LayerSchedule& plan : m.schedule.layers) {
    if (plan.ratio == 0 || !stage.layers.has(plan.layer)) continue;
    const std::int32_t source = plan.kv_source.value;
    const kernels::SourceView shape = source_shape(b, {source});
    if (sources.insert(source).second) {
      stage.kv_bytes += g.kinds[g.kind_of(shape.ratio)].pages * shape.page_bytes();
      stage.kilotoken_bytes += 1024 * shape.page_bytes() / (kernels::kSourcePageRows * shape.ratio);
    }
    if (plan.is_kv_source && shape.ratio > 1)
      stage.kv_bytes += limits.sessions * std::int64_t{sizeof(float)} * kernels::kTailTokens * 2 * b.head_dim;
  }
}

// What comes into a stage's visits and what leaves them, and of how many steps.
struct Passing {
  struct In {
    const Crossing* crossing;
    std::int32_t landings = 2;
  };
  std::vector<In> in{};
  std::vector<const Crossing*> out{};
  std::int32_t steps_kept = 1;
};

StagePlan stage_plan(const PlanModel& m, const Limits& limits, std::int32_t device, const StageLayers& layers,
                     const Passing& passing) {
  StagePlan stage{.device = device, .layers = layers};
  const WeightBytes weights = m.footprints[static_cast<std::size_t>(device)].of(layers);
  stage.weight_bytes = weights.held;
  stage.read_bytes = weights.read;
  count_cache(m, limits, passing.steps_kept, stage);
  Scratch::Wanted wanted{layers, {}, m.footprints[static_cast<std::size_t>(device)].engram_row_bytes};
  const auto publish = [&](const Crossing& crossing) {
    wanted.published.insert(crossing.published.begin(), crossing.published.end());
  };
  for (const Passing::In& in : passing.in) {
    publish(*in.crossing);
    stage.boundary_bytes += in.landings * box_bytes(m.blueprint, *in.crossing, limits);
  }
  for (const Crossing* crossing : passing.out) {
    publish(*crossing);
    stage.boundary_bytes += box_bytes(m.blueprint, *crossing, limits);
  }
  stage.scratch_bytes = static_cast<std::int64_t>(Scratch::shapes(m.blueprint, wanted, limits).bytes);
  return stage;
}

double seconds(const StagePlan& stage, const Machine::Device& device) {
  const std::int64_t speed = device.read_bytes_per_second;
  return static_cast<double>(stage.read_bytes) / static_cast<double>(speed == 0 ? 1 : speed);
}

bool in_host_memory(const Machine::Device& device) { return device.kind != DeviceKind::gpu; }

// "the model needs", "the devices have".
Error too_little(const std::string& need, std::int64_t bytes, const std::string& have, std::int64_t there) {
  return Error(Fault::exhausted,
               need + " " + std::to_string(bytes) + " bytes; " + have + " " + std::to_string(there));
}

// Of the devices together; 0 where one of them has no known bound.
std::int64_t memory_of(const Machine& machine) {
  std::int64_t all = 0;
  for (const Machine::Device& device : machine.devices) {
    if (device.memory_bytes == 0) return 0;
    all += device.memory_bytes;
  }
  return all;
}

bool fits(const StagePlan& stage, const Machine::Device& device) {
  return device.memory_bytes == 0 || stage.bytes() <= device.memory_bytes;
}

std::optional<Placement> quickest(const PlanModel& model, const Machine& machine, const Limits& limits) {
  const auto layers = static_cast<std::int32_t>(model.schedule.layers.size());
  // Where ranges follow each other, what crosses a boundary depends on where it is and on nothing else.
  std::vector<Crossing> into(static_cast<std::size_t>(layers) + 1);
  for (std::int32_t at = 1; at < layers; ++at) {
    const std::vector<Visit> halves = {{0, {0, at}}, {1, {at, layers}}};
    into[static_cast<std::size_t>(at)] = crossings(model.schedule, halves)[1];
  }
  const auto cost = [&](std::int32_t device, LayerRange r) -> StageCost {
    Passing passing;
    if (r.first > 0) passing.in.push_back({&into[static_cast<std::size_t>(r.first)]});
    if (r.end < layers) passing.out.push_back(&into[static_cast<std::size_t>(r.end)]);
    const StagePlan stage = stage_plan(model, limits, device, {{r}}, passing);
    const Machine::Device& on = machine.devices[static_cast<std::size_t>(device)];
    return {seconds(stage, on), fits(stage, on)};
  };
  return best_cut(layers, static_cast<std::int32_t>(machine.devices.size()), cost);
}

}  // namespace

Result<Plan> plan_of(const PlanModel& model, const Machine& machine, const Limits& limits,
                     const Placement& placement) {
  CHECK(model.footprints.size() == machine.devices.size(), "a footprint for each device");
  const auto count = static_cast<std::int32_t>(model.schedule.layers.size());
  TRY(check_placement(placement, count, static_cast<std::int32_t>(machine.devices.size())));
  Plan plan{.placement = placement};
  const std::vector<Visit> visits = manyspan::visits(placement);
  const std::vector<Crossing> crossings = manyspan::crossings(model.schedule, visits);
  const std::vector<Lap> laps = laps_of(visits);
  const std::int32_t flights = machine.devices[0].kind == DeviceKind::cpu ? 1 : flights_for(visits);
  for (std::size_t s = 0; s < placement.stages.size(); ++s) {
    Passing passing{.steps_kept = steps_kept(laps, flights)};
    for (std::size_t v = 0; v < visits.size(); ++v) {
      if (visits[v].stage != static_cast<std::int32_t>(s)) continue;
      if (v > 0) passing.in.push_back({&crossings[v], landing_places(laps, v, flights)});
      if (v + 1 < visits.size()) passing.out.push_back(&crossings[v + 1]);
    }
    const Placement::Stage& stage = placement.stages[s];
    plan.stages.push_back(stage_plan(model, limits, stage.device, stage.layers, passing));
  }
  for (std::size_t v = 1; v < visits.size(); ++v) {
    const std::int64_t row = row_bytes(model.blueprint, crossings[v]);
    plan.boundaries.push_back({visits[v], visits[v - 1].stage, crossings[v], row});
  }
  plan.engram_bytes = model.footprints[0].engram_tables;
  return plan;
}

Result<Plan> best_plan(const PlanModel& model, const Machine& machine, const Limits& limits) {
  CHECK(model.footprints.size() == machine.devices.size(), "a footprint for each device");
  const auto layers = static_cast<std::int32_t>(model.schedule.layers.size());
  const auto devices = static_cast<std::int32_t>(machine.devices.size());
  const StagePlan whole = stage_plan(model, limits, 0, all_layers(layers), {});
  std::optional<Placement> cut;
  if (devices > 1) {
    if (layers > kMostLayersCut) {
      return Error(Fault::invalid, "a cut is sought for models of up to " + std::to_string(kMostLayersCut) +
                                       " layers; this one has " + std::to_string(layers) +
                                       ": say where its stages end");
    }
    cut = quickest(model, machine, limits);
  } else if (fits(whole, machine.devices[0])) {
    cut = whole_placement(layers);
  }
  if (!cut) {
    const std::int64_t there = memory_of(machine);
    Error error = too_little("the model needs", whole.bytes(),
                             devices == 1 ? "the device has" : "the devices have", there);
    if (there < whole.bytes()) return error;
    return Error(Fault::exhausted, error.message() + ", but no cut into one range a device fits");
  }
  Plan plan = TRY(plan_of(model, machine, limits, *cut));
  TRY(check_fit(plan, machine));
  return plan;
}

Result<void> check_fit(const Plan& plan, const Machine& machine) {
  std::int64_t on_host = 0;
  for (const StagePlan& stage : plan.stages) {
    const Machine::Device& device = machine.devices[static_cast<std::size_t>(stage.device)];
    if (in_host_memory(device)) on_host += stage.bytes();
    if (fits(stage, device)) continue;
    return too_little("layers " + shown_layers(stage.layers) + " need", stage.bytes(), "it has",
                      device.memory_bytes)
        .within(device.name);
  }
  if (machine.host_memory_bytes > 0 && on_host > machine.host_memory_bytes) {
    return too_little("the model needs", on_host, "the host has", machine.host_memory_bytes);
  }
  return {};
}

}  // namespace manyspan
