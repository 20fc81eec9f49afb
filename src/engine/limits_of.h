// limits_of — how much room an engine makes, from what was wished and what the model takes.
//
// Errors     invalid: a wish out of bounds, with the bounds
#pragma once

#include "base/result.h"
#include "engine/options.h"
#include "model/limits.h"
#include "spec/blueprint.h"

namespace manyspan {

Result<Limits> limits_of(const EngineOptions& options, const Blueprint& blueprint);

}  // namespace manyspan
