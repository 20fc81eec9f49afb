// tokenizer_keys — a tokenizer.json as the keys that hold a tokenizer in a GGUF, and back.
//
// Special tokens' ids are the model's matter and not among these keys.
//
// Errors     as read_tokenizer_json; unsupported: keys of a tokenizer that no tokenizer.json of this kind says, because two
//            tokens have one spelling. Messages begin with `name`
// Threads    pure
// Spec       containers.md B.8; tokenizer.md 3
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace manyspan::text {

// An object: tokenizer.ggml.model, pre, tokens, token_type and merges.
Result<Json> tokenizer_keys(std::string_view json, const std::string& name);

// The text of a tokenizer.json. Requires metadata that read_gguf_tokenizer made a tokenizer of.
Result<std::string> tokenizer_json_of(const Json& metadata, const std::string& name);

}  // namespace manyspan::text
