// LogitsInput — a file of ids, for logits and for run: a JSON list, or an object with `ids` and maybe `prompt_len`.
//
// Errors     not_found, corrupt: from the file, with its name; unsupported for images
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace manyspan::app {

struct LogitsInput {
  std::vector<TokenId> ids;  // at least one
  std::optional<std::int64_t> prompt;
};

// The ids are not checked against a vocabulary.
Result<LogitsInput> read_logits_input(const std::string& path);

// The same of a file's text. Errors name no file.
Result<LogitsInput> logits_input_of(std::string_view text);

// "3,5,2" as numbers of 1 or more. Errors: invalid
Result<std::vector<std::int64_t>> read_chunks(const std::string& list);

// "attn_in,L3.kv_rows" as names. Errors: invalid for an empty one
Result<std::vector<std::string>> read_names(const std::string& list);

}  // namespace manyspan::app
