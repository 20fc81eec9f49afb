// gguf_keys_trial — for tests: the keys that hold a tokenizer in a GGUF, from its tokenizer.json.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "base/json.h"

namespace manyspan::text {

inline Json gguf_tokenizer_keys(const Json& tokenizer) {
  const Json::Object& vocab = *tokenizer.find("model")->find("vocab")->object();
  const Json::Array& added = *tokenizer.find("added_tokens")->array();
  std::size_t count = vocab.size();
  for (const Json& token : added)
    count = std::max(count, static_cast<std::size_t>(*token.find("id")->integer()) + 1);
  Json::Array tokens(count, Json("")), types(count, Json(1)), merges;
  for (const JsonMember& token : vocab) tokens[static_cast<std::size_t>(*token.value.integer())] = token.key;
  for (const Json& token : added) {
    const auto id = static_cast<std::size_t>(*token.find("id")->integer());
    tokens[id] = *token.find("content")->string();
    types[id] = *token.find("special")->boolean() ? 3 : 4;
  }
  for (const Json& merge : *tokenizer.find("model")->find("merges")->array()) {
    if (merge.string() != nullptr) {
      merges.push_back(*merge.string());
    } else {
      merges.push_back(*(*merge.array())[0].string() + " " + *(*merge.array())[1].string());
    }
  }
  Json keys = Json::Object{};
  keys.set("tokenizer.ggml.model", "gpt2");
  keys.set("tokenizer.ggml.pre", "joyai-llm");
  keys.set("tokenizer.ggml.tokens", std::move(tokens));
  keys.set("tokenizer.ggml.token_type", std::move(types));
  keys.set("tokenizer.ggml.merges", std::move(merges));
  keys.set("tokenizer.ggml.bos_token_id", 0);
  keys.set("tokenizer.ggml.eos_token_id", 1);
  keys.set("tokenizer.ggml.padding_token_id", 2);
  keys.set("tokenizer.ggml.add_bos_token", false);
  keys.set("tokenizer.ggml.add_eos_token", false);
  return keys;
}

}  // namespace manyspan::text
