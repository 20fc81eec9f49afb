// generation_config — the defaults that a checkpoint brings: do_sample, temperature, top_p, thinking.
//
// Its token ids and top_k are checked, and then of no use: the ids are config.json's, and a set of several ids
// that end an answer is not supported.
//
// Errors     corrupt: not JSON; invalid: a value of the wrong kind or range, or a token id that is not
//            config.json's. A file that is absent leaves all as it was
#pragma once

#include <string>

#include "base/result.h"
#include "engine/options.h"
#include "spec/blueprint.h"

namespace manyspan {

// The key of a GGUF that holds the text of a generation_config.json, which no other program's key has a place for.
inline constexpr char kGenerationConfigKey[] = "manyspan.generation_config";

// `blueprint` is what config.json says; where it is null, ids are compared with nothing.
Result<GenerationDefaults> read_generation_config(const std::string& path,
                                                  const Blueprint* blueprint = nullptr);

// The same of a text that stands elsewhere; `place` is for messages.
Result<GenerationDefaults> parse_generation_config(const std::string& text, const std::string& place,
                                                   const Blueprint* blueprint);

// Whether `thinking` is one of off, on, low, high, max or 1 to 100.
bool is_thinking(const std::string& thinking);

}  // namespace manyspan
