// tokenizer_gguf — reads the tokenizer that a GGUF's keys hold: tokens, their kinds and merges.
//
// Only the one kind that is understood here: byte-level byte pairs, the text cut as the model's tokenizer.json says.
// Special tokens' ids are the model's matter. A tokenizer.json that a key holds whole is read where tokens are not.
//
// Errors     corrupt: lists missing, of the wrong kind or of different lengths; unsupported: another kind of tokenizer.
//            Messages begin with `name`
// Spec       containers.md B.8
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "text/tokenizer.h"

namespace manyspan::text {

struct GgufTokenizer {
  std::optional<Tokenizer> tokenizer;  // absent where the keys hold none
  std::vector<std::string> warnings;
};

Result<GgufTokenizer> read_gguf_tokenizer(const Json& metadata, const std::string& name);

}  // namespace manyspan::text
