#include "apps/engine_options.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <utility>

#include "apps/machine_facts.h"
#include "apps/model_files.h"
#include "apps/option_checks.h"
#include "apps/progress_bar.h"
#include "apps/status.h"
#include "base/log.h"
#include "engine/places.h"

namespace manyspan::app {

void EngineChoices::declare(CLI::App& options) {
  declare_model(options, model);
  options.add_option("--numerics", numerics, "fast, or strict: the reference, far slower")
      ->check(CLI::IsMember({"fast", "strict"}));
  options
      .add_option("--table", table, "Kernels of fast numerics by name, as cpu-generic; left out: the fastest")
      ->check(not_empty())
      ->type_name("NAME");
  options.add_option("--threads", threads, "0: one a core")->transform(whole_number(0, 1024))->type_name("N");
  options
      .add_option("--context", context,
                  "Tokens that a session may hold; 0: as many as the model, up to 65536")
      ->transform(whole_number(0, std::uint64_t{1} << 30))
      ->type_name("N");
  options
      .add_option("--device", device,
                  "Where to run: cpu, or sim:N for N simulated devices, late and watchful")
      ->type_name("DEVICE");
  cut.declare(options);
}

Result<std::unique_ptr<Engine>> EngineChoices::open(const Common& common, EngineOptions wishes) const {
  // A path that isn't there is refused in the words of every other subcommand.
  TRY(model_folder(model));
  Result<DeviceChoice> devices = read_devices(device);
  if (!devices.ok()) return std::move(devices).error().within("--device");
  wishes.devices = device;
  if (cut.given()) {
    const bool on_host = devices.value().kind == DeviceKind::cpu;
    wishes.stages = TRY(cut.placement(TRY(read_model_config(model)), on_host ? 0 : devices.value().count));
  }
  ProgressBar bar(common, "loading");
  wishes.model = model;
  wishes.numerics = numerics == "strict" ? Numerics::strict : Numerics::fast;
  wishes.table = table;
  wishes.threads = threads;
  wishes.context = context;
  wishes.cancel = common.cancel;
  wishes.progress = [&](const LoadProgress& p) { bar.show(p.done_bytes, p.total_bytes); };
  auto engine = TRY(Engine::open(wishes));
  for (const std::string& warning : engine->facts().warnings) {
    log(LogLevel::warning, config_name(model), {{"says", warning}});
  }
  return engine;
}

std::string what_was_loaded(const EngineFacts& facts) {
  const bool whole = facts.stages == 1 && facts.devices == "cpu";
  const std::string places =
      whole ? ""
            : fmt::format("{} stage{} on {}, ", facts.stages, facts.stages == 1 ? "" : "s", facts.devices);
  return fmt::format("{}: {} of weights, {} of state for {} tokens, {}{}, {} threads, loaded in {:.2f} s",
                     facts.model, shown_bytes(facts.weight_bytes), shown_bytes(facts.state_bytes),
                     facts.context, places, facts.table, facts.threads, facts.load_seconds);
}

std::vector<std::string> what_is_off(const EngineFacts& facts) {
  std::vector<std::string> lines;
  for (const std::string& capability : facts.capabilities) lines.push_back("off: " + one_line(capability));
  return lines;
}

std::string speed_line(const Answer& answer) {
  const auto rate = [](double tokens, double seconds) {
    return seconds > 0 && tokens > 0 ? fmt::format(", {:.0f} tok/s", tokens / seconds) : std::string();
  };
  const std::int64_t run = answer.prompt_tokens - answer.reused_tokens;
  const auto generated = static_cast<std::int64_t>(answer.ids.size());
  std::string line = fmt::format("{} prompt tokens", answer.prompt_tokens);
  if (answer.reused_tokens > 0) line += fmt::format(", {} of them reused", answer.reused_tokens);
  line += rate(static_cast<double>(run), answer.prefill_seconds);
  // The first token's time belongs to the prompt.
  line += fmt::format("; {} generated{}", generated,
                      rate(static_cast<double>(generated - 1), answer.decode_seconds));
  return line;
}

}  // namespace manyspan::app
