// gguf_keys_trial — for tests: the keys that hold a tokenizer in a GGUF, from its tokenizer.json.
#pragma once

#include "base/json.h"
#include "text/tokenizer_keys.h"

namespace manyspan::text {

inline Json gguf_tokenizer_keys(const Json& tokenizer) {
  Json keys = tokenizer_keys(compact_json(tokenizer), "tokenizer.json").value();
  keys.set("tokenizer.ggml.bos_token_id", 0);
  keys.set("tokenizer.ggml.eos_token_id", 1);
  keys.set("tokenizer.ggml.padding_token_id", 2);
  keys.set("tokenizer.ggml.add_bos_token", false);
  keys.set("tokenizer.ggml.add_eos_token", false);
  return keys;
}

}  // namespace manyspan::text
