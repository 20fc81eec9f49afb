// CheckedModel — a model or a file of weights that is opened to be judged: what is wrong with it is listed, not returned.
//
// Owns       the open files
// Errors     not_found: nothing of that name; exhausted; invalid when cancelled. All else is a finding
// Threads    immutable once open
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"
#include "engine/checkpoint.h"

namespace manyspan::app {

struct CheckedModel {
  std::vector<std::string> findings;  // each with its file
  std::vector<std::string> notes;     // what should be known and is no fault
  std::vector<std::string> off;       // capabilities that it lacks
  std::string what;                   // "a whole model of 40 layers"

  // Null where nothing could be opened, or no whole model assembled.
  const Container* container = nullptr;
  const Weights* weights = nullptr;

  std::unique_ptr<Checkpoint> checkpoint{};  // what they point into
  std::optional<Container> apart{};
  std::optional<Weights> assembled{};
};

// The result does not move what its pointers lead to.
Result<std::unique_ptr<CheckedModel>> check_model(const std::string& path, const Cancel& cancel);

// The folder that a manifest of the model speaks of: the model's own, or the one that its file is in.
std::string manifest_folder(const std::string& path);

// Names, in that folder, of the files that make up the model: weights, then what stands beside them.
std::vector<std::string> files_of_model(const std::string& path, const Container& container);

}  // namespace manyspan::app
