#include "apps/stages_file.h"

#include <charconv>
#include <fmt/core.h>
#include <optional>
#include <set>
#include <yaml-cpp/yaml.h>

#include "apps/status.h"
#include "base/file.h"

namespace manyspan::app {
namespace {

constexpr std::size_t kMostFileBytes = std::size_t{1} << 20;
constexpr std::size_t kMostStages = 4096, kMostRanges = 4096;
constexpr std::int32_t kMostNumber = 1 << 20;  // of a layer or a device
constexpr std::size_t kShown = 40;

Error broken(std::string what) { return Error(Fault::corrupt, std::move(what)); }

// All of `text` as a small number.
std::optional<std::int32_t> number_of(std::string_view text) {
  std::int32_t number = 0;
  const auto [rest, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  if (number < 0 || number > kMostNumber) return std::nullopt;
  return number;
}

// "5-9" or "5".
Result<LayerRange> range_of(const YAML::Node& item) {
  const std::string text = item.IsScalar() ? item.Scalar() : "";
  const std::size_t dash = text.find('-');
  const auto first = number_of(std::string_view(text).substr(0, dash));
  const auto last = dash == std::string::npos ? first : number_of(std::string_view(text).substr(dash + 1));
  if (!first || !last) {
    return broken(fmt::format("layers: \"{}\" is no range of layers, as \"5-9\"", text.substr(0, kShown)));
  }
  if (*last < *first)
    return broken(fmt::format("layers: \"{}\" ends before it begins", text.substr(0, kShown)));
  return LayerRange{*first, *last + 1};
}

Result<StageLayers> layers_of(const YAML::Node& node) {
  StageLayers layers;
  if (node.IsScalar()) {
    layers.ranges.push_back(TRY(range_of(node)));
    return layers;
  }
  if (!node.IsSequence() || node.size() == 0 || node.size() > kMostRanges)
    return broken("layers: must be a list of ranges, as [\"0-4\", \"21-25\"]");
  for (const YAML::Node& item : node) layers.ranges.push_back(TRY(range_of(item)));
  return layers;
}

Result<Placement::Stage> stage_of(const YAML::Node& node) {
  if (!node.IsMap()) return broken("must be as {device: 0, layers: [\"0-4\"]}");
  Placement::Stage stage{};
  std::set<std::string> seen;
  for (const auto& entry : node) {
    const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
    if (!seen.insert(key).second) return broken(key.substr(0, kShown) + ": given twice");
    if (key == "device") {
      const auto device = number_of(entry.second.IsScalar() ? entry.second.Scalar() : "");
      if (!device) return broken("device: must be a device's number, from 0");
      stage.device = *device;
    } else if (key == "layers") {
      stage.layers = TRY(layers_of(entry.second));
    } else {
      return broken(key.substr(0, kShown) + ": no such key; there are device and layers");
    }
  }
  for (const char* key : {"device", "layers"}) {
    if (!seen.contains(key)) return broken(fmt::format("{}: missing", key));
  }
  return stage;
}

}  // namespace

Result<Placement> stages_of(const std::string& text) {
  try {
    const YAML::Node file = YAML::Load(text);
    if (!file.IsSequence() || file.size() == 0 || file.size() > kMostStages)
      return broken("must be a list of stages, as - {device: 0, layers: [\"0-4\"]}");
    Placement placement;
    for (std::size_t i = 0; i < file.size(); ++i) {
      Result<Placement::Stage> stage = stage_of(file[i]);
      if (!stage.ok()) return std::move(stage).error().within(fmt::format("stage {}", i));
      placement.stages.push_back(std::move(stage).value());
    }
    return placement;
  } catch (const YAML::Exception& fault) {
    return broken(fmt::format("line {}: {}", fault.mark.line + 1, fault.msg));
  }
}

Result<Placement> read_stages(const std::string& path) {
  Result<Placement> read = stages_of(TRY(of_file(read_file(path, kMostFileBytes))));
  if (!read.ok()) return std::move(read).error().within(path);
  return read;
}

}  // namespace manyspan::app
