#include "engine/checkpoint_formats.h"
#include "engine/gguf_description.h"
#include "weights/assemble.h"

namespace manyspan {

Result<std::unique_ptr<Checkpoint>> open_gguf(const std::string& path, const Cancel* cancel) {
  auto container = std::make_unique<Container>(TRY(open_container(path)));
  GgufDescription said = TRY(describe_gguf(*container));
  Weights weights = TRY(assemble(*container, said.blueprint, {.scan = false, .cancel = cancel}));
  said.warnings.insert(said.warnings.end(), weights.warnings().begin(), weights.warnings().end());
  Schedule schedule = schedule_of(said.blueprint);
  return std::unique_ptr<Checkpoint>(new Checkpoint{path,
                                                    std::move(said.blueprint),
                                                    std::move(schedule),
                                                    std::move(container),
                                                    std::move(weights),
                                                    std::move(said.tokenizer),
                                                    std::move(said.engram_map),
                                                    {},
                                                    std::move(said.warnings)});
}

}  // namespace manyspan
