#include "engine/checkpoint_formats.h"
#include "engine/generation_config.h"
#include "engine/gguf_description.h"
#include "weights/assemble.h"

namespace manyspan {

namespace {

// What `convert` put there of a generation_config.json; a file without the key has the program's own defaults.
Result<GenerationDefaults> defaults_of(const Container& container, const Blueprint& blueprint) {
  const Json* text = container.metadata().find(kGenerationConfigKey);
  if (text == nullptr) return GenerationDefaults{};
  const std::string place = container.file_path(0) + ": " + kGenerationConfigKey;
  if (text->string() == nullptr)
    return Error(Fault::corrupt, place + ": expected a text, found " + std::string(text->kind_name()));
  return parse_generation_config(*text->string(), place, &blueprint);
}

}  // namespace

Result<std::unique_ptr<Checkpoint>> open_gguf(const std::string& path, const Cancel* cancel) {
  auto container = std::make_unique<Container>(TRY(open_container(path)));
  GgufDescription said = TRY(describe_gguf(*container));
  Weights weights = TRY(assemble(*container, said.blueprint, {.scan = false, .cancel = cancel}));
  said.warnings.insert(said.warnings.end(), weights.warnings().begin(), weights.warnings().end());
  Schedule schedule = schedule_of(said.blueprint);
  GenerationDefaults defaults = TRY(defaults_of(*container, said.blueprint));
  return std::unique_ptr<Checkpoint>(new Checkpoint{
      path, std::move(said.blueprint), std::move(schedule), std::move(container), std::move(weights),
      std::move(said.tokenizer), std::move(said.engram_map), std::move(defaults), std::move(said.warnings)});
}

}  // namespace manyspan
