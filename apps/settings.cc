#include "apps/settings.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string_view>

#include "apps/status.h"

namespace manyspan::app {
namespace {

constexpr const char* name(Source source) {
  switch (source) {
    case Source::fallback:
      return "default";
    case Source::generation_config:
      return "generation_config";
    case Source::config_file:
      return "config file";
    case Source::command_line:
      return "command line";
  }
  return "unknown";
}

// Those that say how to read the configuration are no part of it.
bool shown(const CLI::Option& option) {
  const std::string& name = option.get_single_name();
  return name != "help" && name != "config" && name != "print-config";
}

bool repeatable(const CLI::Option& option) { return option.get_expected_max() > 1; }

}  // namespace

CLI::Option* option_named(CLI::App& subcommand, const std::string& name) {
  for (CLI::Option* option : subcommand.get_options()) {
    if (option->get_single_name() == name) return option;
  }
  return nullptr;
}

Settings::Settings(CLI::App& subcommand) : subcommand_(subcommand) {
  for (const CLI::Option* option : subcommand.get_options()) {
    if (!option->empty()) sources_[option] = Source::command_line;
  }
}

bool Settings::given(const std::string& option) const {
  const auto found = sources_.find(option_named(subcommand_, option));
  return found != sources_.end() && found->second >= Source::config_file;
}

bool Settings::speaks_of_config_file(const Error& error) const {
  const std::string_view message = error.message();
  if (error.fault() != Fault::invalid || !message.starts_with("--")) return false;
  const std::size_t colon = message.find(':');
  if (colon == std::string_view::npos) return false;
  const auto found = sources_.find(option_named(subcommand_, std::string(message.substr(2, colon - 2))));
  return found != sources_.end() && found->second == Source::config_file;
}

Result<void> Settings::offer(const std::string& name, const std::vector<std::string>& values, Source source) {
  CLI::Option* option = option_named(subcommand_, name);
  CHECK(option != nullptr, "the subcommand has no such option");
  const auto before = sources_.find(option);
  if (before != sources_.end() && before->second >= source) return {};
  if (values.size() != 1 && !repeatable(*option)) return misuse(name + ": takes one value, not a list");
  // As --print-config shows what was not given.
  const bool unsaid = !repeatable(*option) && values[0].empty();
  if (source == Source::config_file && unsaid) return {};
  try {
    option->clear();
    for (const std::string& value : values) option->add_result(value);
    if (!option->empty()) option->run_callback();
  } catch (const CLI::Error& refusal) {
    return misuse(refusal.what());
  }
  sources_[option] = source;
  return {};
}

std::string Settings::yaml() const {
  const nlohmann::ordered_json all = nlohmann::ordered_json::parse(json());
  std::string text = subcommand_.get_name() + ":\n";
  for (const auto& [option, entry] : all.items()) {
    // JSON values are YAML values.
    text += "  " + option + ": " + entry["value"].dump() + "  # " + entry["from"].get<std::string>() + "\n";
  }
  return text;
}

std::string Settings::json() const {
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  for (const CLI::Option* option : subcommand_.get_options()) {
    if (!shown(*option)) continue;
    const auto found = sources_.find(option);
    const Source source = found == sources_.end() ? Source::fallback : found->second;
    nlohmann::ordered_json value;
    if (repeatable(*option)) {
      value = option->results();
    } else if (option->get_items_expected_max() == 0) {
      value = !option->empty() && option->as<bool>();
    } else {
      const std::string text = option->empty() ? option->get_default_str() : option->as<std::string>();
      const nlohmann::ordered_json number = nlohmann::ordered_json::parse(text, nullptr, false);
      value = number.is_number() ? number : nlohmann::ordered_json(text);
    }
    all[option->get_single_name()] = {{"value", value}, {"from", name(source)}};
  }
  constexpr auto kReplace = nlohmann::ordered_json::error_handler_t::replace;
  return all.dump(-1, ' ', false, kReplace);
}

}  // namespace manyspan::app
