#include "apps/cut_choices.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <fmt/core.h>
#include <string_view>
#include <vector>

#include "apps/option_checks.h"
#include "apps/stages_file.h"
#include "apps/status.h"

namespace manyspan::app {
namespace {

constexpr std::size_t kShown = 40;

Result<std::vector<std::int32_t>> read_ends(std::string_view list) {
  std::vector<std::int32_t> ends;
  while (true) {
    const std::size_t comma = list.find(',');
    const std::string_view item = list.substr(0, comma);
    std::int32_t end = 0;
    const auto [rest, fault] = std::from_chars(item.data(), item.data() + item.size(), end);
    if (fault != std::errc() || rest != item.data() + item.size())
      return misuse(fmt::format("\"{}\" is no number of a layer", item.substr(0, kShown)));
    ends.push_back(end);
    if (comma == std::string_view::npos) return ends;
    list.remove_prefix(comma + 1);
  }
}

Result<Placement> of_ends(const std::string& list, std::int32_t layers, std::int32_t devices) {
  const std::vector<std::int32_t> ends = TRY(read_ends(list));
  return placement_of_layer_ends(ends, layers,
                                 devices == 0 ? static_cast<std::int32_t>(ends.size()) : devices);
}

}  // namespace

void CutChoices::declare(CLI::App& options) {
  options
      .add_option("--layer-ends", layer_ends,
                  "Cut the model: where each stage ends, exclusive, as 5,10,40; stage i is on device i")
      ->check(not_empty())
      ->type_name("N,...");
  options
      .add_option("--stages", stages_file,
                  "Cut the model as this file says, a list of {device: 0, layers: [\"0-4\"]}, YAML or JSON")
      ->check(not_empty())
      ->type_name("FILE");
}

Result<Placement> CutChoices::placement(const Blueprint& blueprint, std::int32_t devices) const {
  if (!layer_ends.empty() && !stages_file.empty())
    return misuse("--layer-ends: goes without --stages: both say where the model is cut");
  if (!layer_ends.empty()) {
    Result<Placement> cut = of_ends(layer_ends, blueprint.layers, devices);
    if (!cut.ok()) return std::move(cut).error().within("--layer-ends");
    return cut;
  }
  const Placement cut = TRY(read_stages(stages_file));
  const auto count = devices == 0 ? static_cast<std::int32_t>(cut.stages.size()) : devices;
  Result<void> checked = check_placement(cut, blueprint.layers, count);
  if (!checked.ok()) return of_file(std::move(checked).error()).within(stages_file);
  return cut;
}

}  // namespace manyspan::app
