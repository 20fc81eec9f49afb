#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include "apps/bundled_model.h"
#include "apps/command.h"
#include "apps/json_text.h"
#include "apps/machine_facts.h"
#include "apps/streams.h"
#include "kernels/table.h"

namespace manyspan::app {
namespace {

bool model_is_there(const std::string& model) {
  std::error_code absent;
  return std::filesystem::exists(std::filesystem::path(model) / "config.json", absent);
}

// What will slow the engine down or stop it, with the way out.
std::vector<std::string> obstacles(const MachineFacts& facts, const std::string& model) {
  std::vector<std::string> found;
  if (!model_is_there(model)) found.push_back(fmt::format("{}: the bundled model is not there", model));
#if defined(__x86_64__)
  if (facts.instruction_sets.size() == 1) {
    found.push_back("no AVX2: the generic code runs, at a fraction of the speed");
  }
#endif
  if (facts.huge_pages == "never") {
    found.push_back("huge pages are off: /sys/kernel/mm/transparent_hugepage/enabled says never");
  }
  if (facts.available_bytes > 0 && facts.available_bytes < (std::int64_t{1} << 30)) {
    found.push_back(fmt::format("only {} of memory are available", shown_bytes(facts.available_bytes)));
  }
  if (facts.allowed_bytes > 0 && facts.allowed_bytes < facts.memory_bytes) {
    found.push_back(fmt::format("this process may use {} of the machine's {}",
                                shown_bytes(facts.allowed_bytes), shown_bytes(facts.memory_bytes)));
  }
  return found;
}

// The implementations of the operations that run here, the one that is taken first.
std::vector<std::string> tables() {
  std::vector<std::string> names;
  for (const kernels::Table* table : kernels::host_tables())
    names.insert(names.begin(), std::string(table->name));
  return names;
}

std::string shown_limit(std::int64_t limit) { return limit < 0 ? "no limit" : fmt::format("{}", limit); }

std::string as_text(const MachineFacts& facts, const std::string& model) {
  std::string text;
  const auto line = [&](const char* label, const std::string& value) {
    text += fmt::format("{:<17} {}\n", label, value);
  };
  line("cpu", facts.cpu.empty() ? "unknown" : facts.cpu);
  line("cores", fmt::format("{} usable", facts.cores));
  line("numa nodes", facts.numa_nodes == 0 ? "unknown" : fmt::format("{}", facts.numa_nodes));
  line("instruction sets", fmt::format("{}", fmt::join(facts.instruction_sets, " ")));
  line("kernel tables",
       fmt::format("{} (the first is used; strict numerics: reference)", fmt::join(tables(), " ")));
  line("memory",
       fmt::format("{}, {} available", shown_bytes(facts.memory_bytes), shown_bytes(facts.available_bytes)));
  line("huge pages", facts.huge_pages.empty() ? "unknown" : facts.huge_pages);
  line("locked memory", facts.locked_bytes < 0 ? "no limit" : shown_bytes(facts.locked_bytes));
  line("open files", shown_limit(facts.open_files));
  line("gpus", "none: this build is for the CPU");
  line("bundled model", model);
  for (const std::string& obstacle : obstacles(facts, model)) line("in the way", obstacle);
  return text;
}

nlohmann::ordered_json as_json(const MachineFacts& facts, const std::string& model) {
  return {{"cpu", facts.cpu},
          {"cores", facts.cores},
          {"numa_nodes", facts.numa_nodes},
          {"instruction_sets", facts.instruction_sets},
          {"kernel_tables", tables()},
          {"memory_bytes", facts.memory_bytes},
          {"available_bytes", facts.available_bytes},
          {"allowed_bytes", facts.allowed_bytes},
          {"huge_pages", facts.huge_pages},
          {"locked_bytes", facts.locked_bytes},
          {"open_files", facts.open_files},
          {"gpus", nlohmann::ordered_json::array()},
          {"bundled_model", model},
          {"in_the_way", obstacles(facts, model)}};
}

class Doctor final : public Command {
 public:
  About about() const override {
    return {"doctor", "Show what this machine has, what will be used, and what is in the way",
            "  manyspan doctor"};
  }

  void declare(CLI::App&) override {}

  Result<void> run(const Common& common) override {
    const MachineFacts facts = machine_facts();
    const std::string model = bundled_model();
    return write_output(common.json ? json_text(as_json(facts, model)) : as_text(facts, model));
  }
};

}  // namespace

std::unique_ptr<Command> doctor_command() { return std::make_unique<Doctor>(); }

}  // namespace manyspan::app
