#include <filesystem>

#include "base/file.h"
#include "base/json.h"
#include "engine/checkpoint_formats.h"
#include "engine/generation_config.h"
#include "engine/model_folder.h"
#include "text/engram_tokens.h"
#include "weights/assemble.h"

namespace manyspan {
namespace {

constexpr std::uint64_t kMostConfigBytes = 16 << 20;
constexpr std::uint64_t kMostMapBytes = 64 << 20;

std::string in(const std::string& folder, const char* file) {
  return (std::filesystem::path(folder) / file).string();
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

Result<Blueprint> blueprint_of(const std::string& folder) {
  const std::string path = in(folder, "config.json");
  auto blueprint = read_blueprint(TRY(read_file(path, kMostConfigBytes)));
  if (!blueprint.ok()) return std::move(blueprint).error().within(path);
  return blueprint;
}

// The classes that a map file gives, a plain list of numbers.
Result<std::vector<std::int32_t>> read_map(const std::string& path) {
  const auto read = [&]() -> Result<std::vector<std::int32_t>> {
    const Json root = TRY(parse_json(TRY(read_file(path, kMostMapBytes))));
    if (root.array() == nullptr)
      return Error(Fault::invalid, "expected a list, found " + std::string(root.kind_name()));
    std::vector<std::int32_t> map;
    for (const Json& item : *root.array()) {
      const auto value = item.integer();
      if (!value || *value < 0 || *value > INT32_MAX) {
        return Error(Fault::invalid, "entry " + std::to_string(map.size()) + ": " + compact_json(item) +
                                         " is no class number");
      }
      map.push_back(static_cast<std::int32_t>(*value));
    }
    return map;
  };
  auto map = read();
  if (!map.ok() && map.error().message().find(path) == std::string::npos)
    return std::move(map).error().within(path);
  return map;
}

// From the tokenizer, or from the file that a checkpoint without one brings; where both are there they must agree.
Result<EngramMap> engram_map_of(const std::string& folder, const Blueprint& b,
                                const text::Tokenizer* tokenizer) {
  const std::string path = in(folder, "engram_token_map.json");
  const bool brought = exists(path);
  if (!brought && tokenizer == nullptr) {
    return Error(
        Fault::not_found,
        folder + ": the Engram layers need tokenizer.json or engram_token_map.json; neither is there");
  }
  std::vector<std::int32_t> map;
  if (brought) map = TRY(read_map(path));
  if (tokenizer != nullptr) {
    std::vector<std::int32_t> derived = text::engram_tokens(*tokenizer).map;
    if (brought && map != derived) {
      std::size_t at = 0;
      while (at < map.size() && at < derived.size() && map[at] == derived[at]) ++at;
      const auto shown = [at](const std::vector<std::int32_t>& m) {
        return at < m.size() ? std::to_string(m[at]) : "nothing";
      };
      return Error(Fault::invalid, path + ": token " + std::to_string(at) + " has class " + shown(map) +
                                       ", tokenizer.json gives " + shown(derived));
    }
    map = std::move(derived);
  }
  auto made = EngramMap::create(b, std::move(map));
  if (!made.ok()) return std::move(made).error().within(brought ? path : in(folder, "tokenizer.json"));
  return made;
}

}  // namespace

Result<std::unique_ptr<Checkpoint>> open_official(const std::string& path, const Cancel* cancel) {
  const std::string folder = model_folder_of(path);
  Blueprint blueprint = TRY(blueprint_of(folder));
  Schedule schedule = schedule_of(blueprint);
  auto container = std::make_unique<Container>(TRY(open_container(path)));
  Weights weights = TRY(assemble(*container, blueprint, {.scan = false, .cancel = cancel}));

  std::optional<text::Tokenizer> tokenizer;
  if (const std::string file = in(folder, "tokenizer.json"); exists(file)) {
    tokenizer = TRY(text::Tokenizer::open(file));
    if (tokenizer->size() > static_cast<std::size_t>(blueprint.vocabulary)) {
      return Error(Fault::invalid, file + ": " + std::to_string(tokenizer->size()) +
                                       " tokens, but config.json's vocabulary has " +
                                       std::to_string(blueprint.vocabulary));
    }
  }
  std::optional<EngramMap> map;
  if (!blueprint.engram.layers.empty())
    map = TRY(engram_map_of(folder, blueprint, tokenizer ? &*tokenizer : nullptr));
  GenerationDefaults defaults = TRY(read_generation_config(in(folder, "generation_config.json"), &blueprint));

  std::vector<std::string> warnings = blueprint.warnings;
  warnings.insert(warnings.end(), weights.warnings().begin(), weights.warnings().end());
  return std::unique_ptr<Checkpoint>(new Checkpoint{
      path, std::move(blueprint), std::move(schedule), std::move(container), std::move(weights),
      std::move(tokenizer), std::move(map), std::move(defaults), std::move(warnings)});
}

}  // namespace manyspan
