// Checkpoint — a model as its files hold it, opened, understood and complete, but in nobody's layout yet.
//
// Owns       the open files; everything else here borrows from them
// A GGUF is opened by its keys alone: a config.json, tokenizer.json, generation_config.json or engram_token_map.json beside
// it is not looked at; what it says of sampling and thinking is a key's, or the program's default. A directory that holds safetensors and GGUF is
// opened as safetensors; name the .gguf to have that.
//
// Errors     not_found, corrupt, unsupported: from the files, with their names · invalid: cancelled, and nothing else
// Threads    immutable once open
// Spec       house.md 6.1, rows 1 to 3; containers.md A, B
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"
#include "container/container.h"
#include "engine/options.h"
#include "spec/blueprint.h"
#include "spec/engram_map.h"
#include "spec/layers.h"
#include "text/tokenizer.h"
#include "weights/weights.h"

namespace manyspan {

struct Checkpoint {
  std::string path;  // as given
  Blueprint blueprint;
  Schedule schedule;
  std::unique_ptr<Container> container;  // weights point into it
  Weights weights;
  std::optional<text::Tokenizer> tokenizer;
  std::optional<EngramMap> engram_map;
  GenerationDefaults defaults;
  std::vector<std::string>
      warnings;  // of configuration or keys, and of weights stored more coarsely than is good

  // Looks at names, shapes and configuration; numbers are checked as they are placed (prepared/prepared.h).
  static Result<std::unique_ptr<Checkpoint>> open(const std::string& path, const Cancel* cancel = nullptr);
};

}  // namespace manyspan
