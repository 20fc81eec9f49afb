#include "engine/places.h"

#include <charconv>

#include "kernels/simulated.h"
#include "pipeline/laps.h"
#include "pipeline/plan.h"

namespace manyspan {
namespace {

Error invalid(std::string what) { return Error(Fault::invalid, std::move(what)); }

// A person's cut, or the quickest one.
Result<Placement> placement_of(const EngineOptions& o, const DeviceChoice& choice,
                               const kernels::Table& table, const Checkpoint& c, const Limits& limits) {
  if (!o.layer_ends.empty() && o.stages) return invalid("give layer ends or stages, not both");
  const std::int32_t layers = c.blueprint.layers;
  const auto devices = [&](std::size_t stages) {
    return choice.kind == DeviceKind::cpu ? static_cast<std::int32_t>(stages) : choice.count;
  };
  if (o.stages) {
    TRY(check_placement(*o.stages, layers, devices(o.stages->stages.size())));
    return *o.stages;
  }
  if (!o.layer_ends.empty())
    return placement_of_layer_ends(o.layer_ends, layers, devices(o.layer_ends.size()));
  if (choice.count == 1) return whole_placement(layers);
  const std::vector<Footprint> footprints(static_cast<std::size_t>(choice.count),
                                          footprint(c.blueprint, table.tiling, &c.weights));
  return TRY(best_plan({c.blueprint, c.schedule, footprints}, simulated_machine(choice.count), limits))
      .placement;
}

}  // namespace

Result<DeviceChoice> read_devices(std::string_view text) {
  if (text == "cpu") return DeviceChoice{DeviceKind::cpu, 1};
  constexpr std::string_view kSim = "sim:";
  if (text.starts_with(kSim)) {
    const std::string_view digits = text.substr(kSim.size());
    int count = 0;
    const auto [rest, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
    const bool whole = fault == std::errc() && rest == digits.data() + digits.size();
    if (whole && count >= 1 && count <= static_cast<int>(kMostDevices))
      return DeviceChoice{DeviceKind::sim, count};
    return invalid("\"" + std::string(text) + "\": sim:N takes 1 to " + std::to_string(kMostDevices) +
                   " devices");
  }
  return invalid("this build has no \"" + std::string(text) + "\"; there are cpu and sim:N");
}

Result<std::unique_ptr<Places>> Places::open(const EngineOptions& options, const kernels::Table& table,
                                             const Checkpoint& checkpoint, HostDevice& host,
                                             const Limits& limits) {
  const DeviceChoice choice = TRY(read_devices(options.devices));
  std::unique_ptr<Places> places(new Places());
  places->placement_ = TRY(placement_of(options, choice, table, checkpoint, limits));
  if (choice.kind == DeviceKind::sim) {
    const bool at_once = options.stage_time.count() > 0;
    const int threads = at_once ? 1 : host.workers().threads();
    places->world_ = TRY(SimWorld::create({.devices = choice.count, .threads = threads, .at_once = at_once}));
  } else if (options.stage_time.count() > 0) {
    return invalid("a stage time is for simulated devices; the stages are on \"" + options.devices + "\"");
  }
  TRY(places->load(options, table, checkpoint, host));
  places->take_time(options.stage_time);
  return places;
}

Result<void> Places::load(const EngineOptions& options, const kernels::Table& table, const Checkpoint& c,
                          HostDevice& host) {
  const std::int64_t total = bytes_to_read(c.weights, c.blueprint, all_layers(c.blueprint.layers));
  std::int64_t before = 0;
  const auto progress = [&](const LoadProgress& p) {
    if (options.progress) options.progress({before + p.done_bytes, total});
  };
  tables_.reserve(placement_.stages.size());  // places refer to them
  for (const Placement::Stage& stage : placement_.stages) {
    Device& device = world_ == nullptr ? static_cast<Device&>(host) : world_->device(stage.device);
    if (world_ != nullptr) tables_.push_back(kernels::simulated(table, *world_, stage.device));
    const kernels::Table& here = world_ == nullptr ? table : tables_.back();
    prepared_.push_back(
        TRY(prepare(c.weights, c.blueprint, stage.layers, device, host, here, options.cancel, progress)));
    before += bytes_to_read(c.weights, c.blueprint, stage.layers);
    list_.push_back({device, here, *prepared_.back()});
  }
  return {};
}

// Spread over the layers, near the end of each.
void Places::take_time(std::chrono::microseconds stage_time) {
  if (stage_time.count() == 0) return;
  for (const Placement::Stage& stage : placement_.stages) {
    world_->take_time(stage.device, "experts", stage_time / stage.layers.count());
  }
}

std::vector<StageSpan> Places::take_spans() {
  std::vector<StageSpan> spans;
  if (world_ == nullptr) return spans;
  std::vector<int> stage_of(world_->devices(), -1);
  for (std::size_t s = 0; s < placement_.stages.size(); ++s) {
    stage_of[placement_.stages[s].device] = static_cast<int>(s);
  }
  for (const SimSpan& span : world_->take_spans()) {
    spans.push_back({stage_of[span.device], span.queue, std::string(span.name), span.from, span.to});
  }
  return spans;
}

std::int32_t Places::flights() const { return world_ == nullptr ? 1 : flights_for(visits(placement_)); }

std::int64_t Places::weight_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& prepared : prepared_) bytes += prepared->bytes;
  return bytes;
}

}  // namespace manyspan
