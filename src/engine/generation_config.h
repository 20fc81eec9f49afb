// generation_config — the defaults that a checkpoint brings: do_sample, temperature, top_p, thinking.
//
// Errors     corrupt: not JSON; invalid: a value of the wrong kind or range. A file that is absent leaves all
//            as it was
#pragma once

#include <string>

#include "base/result.h"
#include "engine/options.h"

namespace manyspan {

Result<GenerationDefaults> read_generation_config(const std::string& path);

// Whether `thinking` is one of off, on, low, high, max or 1 to 100.
bool is_thinking(const std::string& thinking);

}  // namespace manyspan
