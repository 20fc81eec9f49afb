#include "apps/config_file.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <set>
#include <yaml-cpp/yaml.h>

#include "apps/status.h"
#include "base/file.h"

namespace manyspan::app {
namespace {

constexpr std::size_t kMaxConfigBytes = std::size_t{1} << 20;

Result<std::vector<std::string>> values_of(const YAML::Node& node) {
  if (node.IsScalar()) return std::vector<std::string>{node.Scalar()};
  if (!node.IsSequence()) return misuse("needs a value or a list of values");
  std::vector<std::string> values;
  for (const YAML::Node& item : node) {
    if (!item.IsScalar()) return misuse("needs a list of plain values");
    values.push_back(item.Scalar());
  }
  return values;
}

bool settable(CLI::App& subcommand, const std::string& option) {
  if (option == "help" || option == "config" || option == "print-config") return false;
  return option_named(subcommand, option) != nullptr;
}

CLI::App* subcommand_named(CLI::App& program, const std::string& name) {
  const auto same = [&](CLI::App* subcommand) { return subcommand->get_name() == name; };
  const std::vector<CLI::App*> found = program.get_subcommands(same);
  return found.empty() ? nullptr : found.front();
}

// A section's names must be options; its values are taken if `settings` are those of this subcommand.
Result<void> read_section(const YAML::Node& section, CLI::App& subcommand, Settings* settings) {
  if (!section.IsMap()) return misuse("needs `option: value` lines");
  std::set<std::string> seen;
  for (const auto& entry : section) {
    if (!entry.first.IsScalar()) return misuse("an option's name must be plain text");
    const std::string option = entry.first.Scalar();
    if (!settable(subcommand, option)) return misuse(option + ": no such option");
    if (!seen.insert(option).second) return misuse(option + ": given twice");
    Result<std::vector<std::string>> values = values_of(entry.second);
    if (!values.ok()) return std::move(values).error().within(option);
    if (settings != nullptr) TRY(settings->offer(option, values.value(), Source::config_file));
  }
  return {};
}

Result<void> read_sections(const YAML::Node& file, CLI::App& program, CLI::App& subcommand,
                           Settings& settings) {
  if (file.IsNull()) return {};
  if (!file.IsMap()) return misuse("needs a section for each subcommand");
  std::set<std::string> seen;
  for (const auto& entry : file) {
    if (!entry.first.IsScalar()) return misuse("a section's name must be plain text");
    const std::string name = entry.first.Scalar();
    CLI::App* owner = subcommand_named(program, name);
    if (owner == nullptr) return misuse(name + ": no such subcommand");
    if (!seen.insert(name).second) return misuse(name + ": given twice");
    Result<void> read = read_section(entry.second, *owner, owner == &subcommand ? &settings : nullptr);
    if (!read.ok()) return std::move(read).error().within(name);
  }
  return {};
}

}  // namespace

Result<void> apply_config_file(const std::string& path, CLI::App& program, CLI::App& subcommand,
                               Settings& settings) {
  const std::string text = TRY(of_file(read_file(path, kMaxConfigBytes)));
  try {
    Result<void> read = read_sections(YAML::Load(text), program, subcommand, settings);
    if (!read.ok()) return std::move(read).error().within(path);
    return {};
  } catch (const YAML::Exception& broken) {
    return misuse(fmt::format("{}: line {}: {}", path, broken.mark.line + 1, broken.msg));
  }
}

}  // namespace manyspan::app
