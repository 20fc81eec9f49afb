// Checkpoint — a model as its files hold it, opened, understood and complete, but in nobody's layout yet.
//
// Owns       the open files; everything else here borrows from them
// Errors     not_found, corrupt, unsupported, invalid: from the files, with their names · invalid when cancelled
// Threads    immutable once open
// Spec       house.md 6.1, rows 1 to 3
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
  std::vector<std::string> warnings;

  // Looks at names, shapes and configuration; numbers are checked as they are placed (prepared/prepared.h).
  static Result<std::unique_ptr<Checkpoint>> open(const std::string& path, const Cancel* cancel = nullptr);
};

}  // namespace manyspan
