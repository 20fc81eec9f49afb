// CutChoices — the options that say where a model is cut, and the placement that they ask for.
//
// Errors     invalid for --layer-ends; for a stages file not_found or corrupt, with its name
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "prepared/placement.h"
#include "spec/blueprint.h"

namespace CLI {
class App;
}

namespace manyspan::app {

struct CutChoices {
  std::string layer_ends, stages_file;

  void declare(CLI::App& options);
  bool given() const { return !layer_ends.empty() || !stages_file.empty(); }

  // A cut of the model over this many devices; 0: over as many as the cut names. Requires given().
  Result<Placement> placement(const Blueprint& blueprint, std::int32_t devices) const;
};

}  // namespace manyspan::app
