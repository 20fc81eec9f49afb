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

Error broken(std::string what) { return Error(Fault::corrupt, std::move(what)); }

Result<std::vector<std::string>> values_of(const YAML::Node& node) {
  if (node.IsScalar()) return std::vector<std::string>{node.Scalar()};
  if (!node.IsSequence()) return broken("needs a value or a list of values");
  std::vector<std::string> values;
  for (const YAML::Node& item : node) {
    if (!item.IsScalar()) return broken("needs a list of plain values");
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
  if (!section.IsMap()) return broken("needs `option: value` lines");
  std::set<std::string> seen;
  for (const auto& entry : section) {
    if (!entry.first.IsScalar()) return broken("an option's name must be plain text");
    const std::string option = entry.first.Scalar();
    if (!settable(subcommand, option)) return broken(option + ": no such option");
    if (!seen.insert(option).second) return broken(option + ": given twice");
    Result<std::vector<std::string>> values = values_of(entry.second);
    if (!values.ok()) return std::move(values).error().within(option);
    if (settings != nullptr) TRY(of_file(settings->offer(option, values.value(), Source::config_file)));
  }
  return {};
}

// Why a name at the top is none of a section. Options often stand there, as in other programs' files.
template <class Entry>
std::string no_section(const Entry& entry, CLI::App& subcommand) {
  const std::string name = entry.first.Scalar();
  if (!settable(subcommand, name)) return ": no such subcommand";
  return fmt::format(": options stand under a section named as the subcommand, as {}: {{{}: {}}}",
                     subcommand.get_name(), name, entry.second.IsScalar() ? entry.second.Scalar() : "...");
}

Result<void> read_sections(const YAML::Node& file, CLI::App& program, CLI::App& subcommand,
                           Settings& settings) {
  if (file.IsNull()) return {};
  if (!file.IsMap()) return broken("needs a section for each subcommand, as run: {threads: 2}");
  std::set<std::string> seen;
  for (const auto& entry : file) {
    if (!entry.first.IsScalar()) return broken("a section's name must be plain text");
    const std::string name = entry.first.Scalar();
    CLI::App* owner = subcommand_named(program, name);
    if (owner == nullptr) return broken(name + no_section(entry, subcommand));
    if (!seen.insert(name).second) return broken(name + ": given twice");
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
  } catch (const YAML::Exception& fault) {
    return broken(fmt::format("{}: line {}: {}", path, fault.mark.line + 1, fault.msg));
  }
}

}  // namespace manyspan::app
