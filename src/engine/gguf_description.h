// gguf_description — what a GGUF's keys say of the model: its numbers, its tokenizer and Engram's classes of tokens.
//
// Files beside it (config.json, tokenizer.json, generation_config.json, engram_token_map.json) are not looked at: they may
// be another model's, and a GGUF is made to stand alone. Defaults of sampling are therefore the program's own.
//
// Errors     unsupported, corrupt, invalid, not_found: with the first file's name and the keys
// Cost       the tokenizer's folding where the file has no token map, or has both, which must agree
// Spec       containers.md B.4, B.7 to B.9
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "container/container.h"
#include "spec/blueprint.h"
#include "spec/engram_map.h"
#include "text/tokenizer.h"

namespace manyspan {

struct GgufDescription {
  Blueprint blueprint;
  std::optional<text::Tokenizer> tokenizer;  // absent where the keys hold none
  std::optional<EngramMap> engram_map;       // absent where the model has no Engram layers
  std::string family;                        // of keys, for people
  std::vector<std::string> warnings;         // of keys and tokenizer
};

// Requires   a container of GGUF files
Result<GgufDescription> describe_gguf(const Container& container);

}  // namespace manyspan
