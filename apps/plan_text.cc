#include "apps/plan_text.h"

#include <algorithm>
#include <fmt/core.h>
#include <set>

#include "apps/json_text.h"
#include "apps/machine_facts.h"
#include "apps/status.h"
#include "pipeline/crossing.h"
#include "pipeline/state_met.h"

namespace manyspan::app {
namespace {

// Of a decoded token, by reading its weights; 0: the machine's speeds are not known.
double seconds(const PlanShown& s, const StagePlan& stage) {
  const std::int64_t speed = s.devices.devices[static_cast<std::size_t>(stage.device)].read_bytes_per_second;
  return speed == 0 ? 0 : static_cast<double>(stage.read_bytes) / static_cast<double>(speed);
}

const std::string& name_of(const PlanShown& s, std::int32_t stage) {
  const std::int32_t device = s.plan.stages[static_cast<std::size_t>(stage)].device;
  return s.devices.devices[static_cast<std::size_t>(device)].name;
}

std::string counted(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string stage_text(const PlanShown& s, const StagePlan& stage) {
  const Machine::Device& device = s.devices.devices[static_cast<std::size_t>(stage.device)];
  std::string text = fmt::format("{}  {}  {}", one_line(device.name), shown_layers(stage.layers),
                                 shown_bytes(stage.bytes()));
  if (device.memory_bytes > 0) text += fmt::format(" of {}", shown_bytes(device.memory_bytes));
  text += fmt::format(": weights {}, KV {}, scratch {}, boundaries {}\n", shown_bytes(stage.weight_bytes),
                      shown_bytes(stage.kv_bytes), shown_bytes(stage.scratch_bytes),
                      shown_bytes(stage.boundary_bytes));
  text += fmt::format("    a session: {} of window, {} for each 1024 tokens; a token reads {} of weights",
                      shown_bytes(stage.window_bytes), shown_bytes(stage.kilotoken_bytes),
                      shown_bytes(stage.read_bytes));
  const double time = seconds(s, stage);
  text += time > 0 ? fmt::format(", {:.2f} ms\n", 1e3 * time) : "\n";
  for (const std::string& line : state_met(s.schedule, stage.layers)) text += "    " + line + "\n";
  return text;
}

// Neither attention nor links are in it, so no run is as quick.
std::string speed_text(const PlanShown& s) {
  double sum = 0, most = 0;
  for (const StagePlan& stage : s.plan.stages) {
    sum += seconds(s, stage);
    most = std::max(most, seconds(s, stage));
  }
  if (most == 0) return "";
  return fmt::format(
      "a token reads its weights in {:.2f} ms, at most {:.0f} tokens a second for one session, "
      "{:.0f} for as many as there are stages\n",
      1e3 * sum, 1 / sum, 1 / most);
}

std::vector<const Machine::Device*> idle(const PlanShown& s) {
  std::set<std::int32_t> used;
  for (const StagePlan& stage : s.plan.stages) used.insert(stage.device);
  std::vector<const Machine::Device*> left;
  for (std::size_t i = 0; i < s.devices.devices.size(); ++i) {
    if (!used.contains(static_cast<std::int32_t>(i))) left.push_back(&s.devices.devices[i]);
  }
  return left;
}

// As a stages file takes them: both ends inside.
nlohmann::ordered_json ranges(const StageLayers& layers) {
  auto list = nlohmann::ordered_json::array();
  for (const LayerRange& r : layers.ranges) list.push_back(fmt::format("{}-{}", r.first, r.end - 1));
  return list;
}

}  // namespace

std::string plan_text(const PlanShown& s) {
  std::string text = fmt::format("{}: {} layers, encodings {}\n", one_line(s.model), s.schedule.layers.size(),
                                 s.weights_seen ? "as stored" : "as config.json implies them");
  text += fmt::format(
      "{}: {}; {} of {} tokens, steps of {} rows\n", s.machine.empty() ? "this machine" : one_line(s.machine),
      counted(s.devices.devices.size(), "device"),
      counted(static_cast<std::size_t>(s.limits.sessions), "session"), s.limits.context, s.limits.step_rows);
  for (const StagePlan& stage : s.plan.stages) text += stage_text(s, stage);
  for (const Machine::Device* device : idle(s)) text += one_line(device->name) + "  no layers\n";
  for (const BoundaryPlan& b : s.plan.boundaries) {
    text += fmt::format("{} to {} before L{}: {}; {} bytes a row\n", one_line(name_of(s, b.from_stage)),
                        one_line(name_of(s, b.to.stage)), b.to.range.first,
                        describe(s.schedule, b.to, b.crossing), b.row_bytes);
  }
  if (s.plan.engram_bytes > 0) {
    text += fmt::format("host: Engram tables of {}, read row by row from the checkpoint's files",
                        shown_bytes(s.plan.engram_bytes));
    if (s.devices.host_memory_bytes > 0)
      text += fmt::format("; the host has {}", shown_bytes(s.devices.host_memory_bytes));
    text += "\n";
  }
  text += speed_text(s);
  return text + "not counted: workspaces of kernels\n";
}

std::string plan_json(const PlanShown& s) {
  nlohmann::ordered_json document = {{"model", s.model},
                                     {"layers", s.schedule.layers.size()},
                                     {"encodings", s.weights_seen ? "stored" : "implied"},
                                     {"sessions", s.limits.sessions},
                                     {"context", s.limits.context},
                                     {"step_rows", s.limits.step_rows},
                                     {"fits", s.lack.empty()},
                                     {"stages", nlohmann::ordered_json::array()},
                                     {"idle", nlohmann::ordered_json::array()},
                                     {"boundaries", nlohmann::ordered_json::array()},
                                     {"engram_bytes", s.plan.engram_bytes},
                                     {"host_memory_bytes", s.devices.host_memory_bytes}};
  for (const StagePlan& stage : s.plan.stages) {
    const Machine::Device& device = s.devices.devices[static_cast<std::size_t>(stage.device)];
    nlohmann::ordered_json entry = {{"device", stage.device},
                                    {"name", device.name},
                                    {"kind", name(device.kind)},
                                    {"memory_bytes", device.memory_bytes},
                                    {"layers", ranges(stage.layers)},
                                    {"state", state_met(s.schedule, stage.layers)},
                                    {"bytes", stage.bytes()},
                                    {"weight_bytes", stage.weight_bytes},
                                    {"kv_bytes", stage.kv_bytes},
                                    {"scratch_bytes", stage.scratch_bytes},
                                    {"boundary_bytes", stage.boundary_bytes},
                                    {"window_bytes_a_session", stage.window_bytes},
                                    {"kv_bytes_a_1024_tokens", stage.kilotoken_bytes},
                                    {"read_bytes_a_token", stage.read_bytes}};
    if (seconds(s, stage) > 0) entry["seconds_a_token"] = seconds(s, stage);
    document["stages"].push_back(std::move(entry));
  }
  for (const Machine::Device* device : idle(s)) document["idle"].push_back(device->name);
  for (const BoundaryPlan& b : s.plan.boundaries) {
    document["boundaries"].push_back({{"from", name_of(s, b.from_stage)},
                                      {"to", name_of(s, b.to.stage)},
                                      {"before_layer", b.to.range.first},
                                      {"crosses", describe(s.schedule, b.to, b.crossing)},
                                      {"bytes_a_row", b.row_bytes}});
  }
  return json_text(document);
}

}  // namespace manyspan::app
