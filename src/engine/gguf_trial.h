// gguf_trial — for tests: a checkpoint in the official layout as a GGUF that says the same, whole or in parts.
#pragma once

#include <string>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "engine/checkpoint.h"
#include "spec/gguf_trial.h"
#include "text/engram_tokens.h"
#include "text/gguf_keys_trial.h"
#include "weights/tiny_gguf.h"

namespace manyspan {

// The classes of tokens that the folder's file gives, or else its tokenizer; none without Engram layers.
inline std::vector<std::int32_t> token_map_of(const std::string& folder, const Checkpoint& checkpoint) {
  if (checkpoint.blueprint.engram.layers.empty()) return {};
  if (checkpoint.tokenizer) return text::engram_tokens(*checkpoint.tokenizer).map;
  const Json map = parse_json(read_file(folder + "/engram_token_map.json", 1 << 20).value()).value();
  return numbers_of<std::int32_t>(*map.array());
}

// All keys of one family.
inline Json gguf_keys_of(const std::string& folder, const Checkpoint& checkpoint, bool second) {
  const std::vector<std::int32_t> map = token_map_of(folder, checkpoint);
  const std::string config = read_file(folder + "/config.json", 1 << 20).value();
  Json keys = second ? repeated_keys(checkpoint.blueprint, config, map) : own_keys(checkpoint.blueprint, map);
  if (checkpoint.tokenizer) {
    const Json json = parse_json(read_file(folder + "/tokenizer.json", 64 << 20).value()).value();
    const Json tokenizer = text::gguf_tokenizer_keys(json);
    for (const JsonMember& m : *tokenizer.object()) keys.set(m.key, m.value);
  }
  return keys;
}

// Gives the path of the file, or of the first of `parts`.
inline std::string write_as_gguf(const std::string& folder, const Checkpoint& checkpoint,
                                 const std::string& stem, bool second, std::uint16_t parts = 1) {
  return GgufCopy(checkpoint.weights, second).write(stem, gguf_keys_of(folder, checkpoint, second), parts);
}

}  // namespace manyspan
