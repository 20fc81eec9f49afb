#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/core.h>
#include <memory>
#include <optional>

#include "apps/command.h"
#include "apps/cut_choices.h"
#include "apps/machine_facts.h"
#include "apps/model_files.h"
#include "apps/option_checks.h"
#include "apps/plan_text.h"
#include "apps/status.h"
#include "apps/streams.h"
#include "base/file.h"
#include "base/log.h"
#include "container/container.h"
#include "engine/limits_of.h"
#include "kernels/table.h"
#include "weights/assemble.h"

namespace manyspan::app {
namespace {

constexpr std::size_t kMostMachineBytes = std::size_t{1} << 20;

// The CPU, as often as a cut wants it: its stages share the host's memory.
Machine this_machine(std::size_t stages) {
  const MachineFacts facts = machine_facts();
  const std::int64_t memory =
      facts.allowed_bytes > 0 ? std::min(facts.allowed_bytes, facts.memory_bytes) : facts.memory_bytes;
  Machine machine{.devices = {}, .host_memory_bytes = memory};
  for (std::size_t i = 0; i < stages; ++i) {
    const std::string name = stages == 1 ? "cpu" : fmt::format("cpu stage {}", i);
    machine.devices.push_back({.name = name, .kind = DeviceKind::cpu, .memory_bytes = memory});
  }
  return machine;
}

bool has_weights(const std::string& model) {
  namespace fs = std::filesystem;
  std::error_code unreadable;
  // A file beside the configuration, as a person may name a model; of those only the index leads to weights.
  if (!fs::is_directory(model, unreadable))
    return !model.ends_with(".json") || model.ends_with(".index.json");
  for (const auto& entry : fs::directory_iterator(model, unreadable)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".safetensors") || name.ends_with(".safetensors.index.json") ||
        name.ends_with(".gguf")) {
      return true;
    }
  }
  return false;
}

// Weights as its files name them, where a model has any. Nothing of them is read but headers.
struct Stored {
  std::unique_ptr<Container> container;  // weights point into it
  std::optional<Weights> weights;

  static Result<Stored> of(const std::string& model, const Blueprint& blueprint) {
    Stored stored;
    if (!has_weights(model)) return stored;
    stored.container = std::make_unique<Container>(TRY(of_file(open_container(model))));
    stored.weights.emplace(TRY(of_file(assemble(*stored.container, blueprint, {.scan = false}))));
    return stored;
  }
  const Weights* get() const { return weights ? &*weights : nullptr; }
};

class PlanAPlacement final : public Command {
 public:
  About about() const override {
    return {
        "plan", "Show where each layer would run, what lies there and what crosses, and load nothing",
        "  manyspan plan models/first-light\n"
        "  manyspan plan some-folder --machine eight-gpus.json --sessions 8\n"
        "  manyspan plan --machine eight-gpus.json --layer-ends 2,4,6,8,9,10,11,12 --json",
        "A machine is described in a JSON file, with sizes in bytes; speeds for all devices or for none:\n"
        "  {\"host_memory_bytes\": 549755813888,\n"
        "   \"devices\": [{\"name\": \"gpu0\", \"kind\": \"gpu\", \"memory_bytes\": 51539607552,\n"
        "                \"read_bytes_per_second\": 864000000000}]}\n"
        "Without a cut the layers go where the slowest stage is the quickest and everything fits.\n\n"};
  }

  void declare(CLI::App& options) override {
    declare_model(options, model_);
    options.add_option("--machine", machine_file_, "A described machine; left out: this one, without GPUs")
        ->check(not_empty())
        ->type_name("FILE");
    options
        .add_option("--context", context_,
                    "Tokens that a session may hold; 0: as many as the model, up to 65536")
        ->transform(whole_number(0, std::uint64_t{1} << 30))
        ->type_name("N");
    options.add_option("--sessions", sessions_, "Sessions open at once")
        ->transform(whole_number(1, 4096))
        ->type_name("N");
    options.add_option("--step-rows", step_rows_, "Rows of a step")
        ->transform(whole_number(1, 65536))
        ->type_name("N");
    cut_.declare(options);
  }

  Result<void> defaults(Settings& settings) override { return offer_bundled_model(settings); }

  Result<void> run(const Common& common) override {
    const Blueprint blueprint = TRY(read_model_config(model_));
    for (const std::string& warning : blueprint.warnings)
      log(LogLevel::warning, config_name(model_), {{"says", warning}});
    const Schedule schedule = schedule_of(blueprint);
    EngineOptions wishes;
    wishes.context = context_;
    wishes.sessions = sessions_;
    wishes.step_rows = step_rows_;
    Result<Limits> limits = limits_of(wishes, blueprint);
    if (!limits.ok()) return std::move(limits).error().within("--context");
    std::optional<Machine> described;
    if (!machine_file_.empty()) described = TRY(read_machine_file());
    std::optional<Placement> cut;
    if (cut_.given()) {
      const std::size_t devices = described ? described->devices.size() : 0;
      cut = TRY(cut_.placement(blueprint, static_cast<std::int32_t>(devices)));
    }
    const Machine machine = described ? *described : this_machine(cut ? cut->stages.size() : 1);
    const Stored stored = TRY(Stored::of(model_, blueprint));
    const std::vector<Footprint> footprints = footprints_of(blueprint, machine, stored.get());
    const PlanModel model{blueprint, schedule, footprints};
    const Plan plan =
        TRY(cut ? plan_of(model, machine, limits.value(), *cut) : best_plan(model, machine, limits.value()));
    Result<void> fits = check_fit(plan, machine);
    const PlanShown shown{
        model_,   stored.get() != nullptr, machine_file_, machine,
        schedule, limits.value(),          plan,          fits.ok() ? "" : fits.error().message()};
    TRY(write_output(common.json ? plan_json(shown) : plan_text(shown)));
    return fits;
  }

 private:
  Result<Machine> read_machine_file() const {
    Result<Machine> machine = read_machine(TRY(of_file(read_file(machine_file_, kMostMachineBytes))));
    if (!machine.ok()) return std::move(machine).error().within(machine_file_);
    return machine;
  }

  // GPUs read matrices as they are stored, host tables in tiles.
  static std::vector<Footprint> footprints_of(const Blueprint& blueprint, const Machine& machine,
                                              const Weights* weights) {
    const Footprint plain = footprint(blueprint, Tiling::plain, weights);
    const Footprint tiled = footprint(blueprint, kernels::host_tables().back()->tiling, weights);
    std::vector<Footprint> all;
    for (const Machine::Device& device : machine.devices)
      all.push_back(device.kind == DeviceKind::gpu ? plain : tiled);
    return all;
  }

  std::string model_, machine_file_;
  std::int64_t context_ = 0;
  int sessions_ = 1, step_rows_ = EngineOptions{}.step_rows;
  CutChoices cut_;
};

}  // namespace

std::unique_ptr<Command> plan_command() { return std::make_unique<PlanAPlacement>(); }

}  // namespace manyspan::app
