// LogitsInput — what `logits --ids FILE` holds: a JSON list of ids, or an object with `ids` and maybe `prompt_len`.
//
// Errors     not_found, corrupt: from the file, with its name; unsupported for images
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace manyspan::app {

struct LogitsInput {
  std::vector<TokenId> ids;  // at least one
  std::optional<std::int64_t> prompt;
};

// Requires   the model's `vocabulary` and the `context` it runs with, which the ids must fit
Result<LogitsInput> read_logits_input(const std::string& path, std::int64_t vocabulary, std::int64_t context);

// "3,5,2" as numbers of 1 or more. Errors: invalid
Result<std::vector<std::int64_t>> read_chunks(const std::string& list);

// "attn_in,L3.kv_rows" as names. Errors: invalid for an empty one
Result<std::vector<std::string>> read_names(const std::string& list);

}  // namespace manyspan::app
