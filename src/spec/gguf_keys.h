// gguf_keys — the keys that a GGUF of the first family says a model with: llama.cpp's words for the blueprint's numbers.
//
// What they do not say (the draft model, vision, a gate's temperature) is lost: whoever writes them compares what
// read_gguf_blueprint makes of them with what they were made from.
//
// Requires   a Blueprint that read_blueprint returned; `token_map` empty, or the class of every token id
// Threads    pure
// Spec       containers.md B.4, B.7
#pragma once

#include <cstdint>
#include <vector>

#include "base/json.h"
#include "spec/blueprint.h"

namespace manyspan {

// An object of "general.architecture" and "deepseek41." keys. Lists of 64-bit numbers are those whose keys end in
// multipliers, primes and offsets.
Json gguf_keys(const Blueprint& blueprint, const std::vector<std::int32_t>& token_map = {});

// Engram's alone, by the names that both families have: hash constants, and the classes where there are any.
void add_gguf_engram_keys(const Blueprint& blueprint, const std::vector<std::int32_t>& token_map, Json& keys);

}  // namespace manyspan
