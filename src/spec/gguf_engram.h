// gguf_engram — the Engram numbers and hash constants that a GGUF carries, checked against each other.
//
// All are optional: a file made before they were written has none, and then they come from the config and the
// tokenizer.
//
// Errors     noted in the fields' faults
// Spec       containers.md B.4, B.7
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "spec/blueprint.h"
#include "spec/gguf_fields.h"

namespace manyspan {

inline constexpr std::string_view kRow264 = "e4m3_e8m0_32_row264";

struct GgufEngram {
  std::vector<std::int64_t> layers;
  std::vector<std::int64_t> table_rows;
  std::optional<std::int64_t> heads, head_dim, max_ngram, vocab_size, token_classes, pad_token, pad_class;
  std::vector<std::int64_t> multipliers;  // [layers][max_ngram], or none
  std::vector<std::int64_t> primes;       // [layers][max_ngram - 1][heads], or none
  std::vector<std::int32_t> token_map;    // one for each token, or none
};

// `layers`: the trunk's, which bounds the ids; `vocabulary` 0 where it is not known.
GgufEngram read_gguf_engram(GgufFields& fields, std::int64_t layers, std::int64_t vocabulary);

// Adds what the config's reader needs to `config`. Values that the file leaves out follow from those that it has.
void add_engram(const GgufEngram& engram, std::optional<std::int64_t> pad_token, Json& config);

// Whether the constants are those that the blueprint gives. invalid, naming both numbers.
Result<void> check_gguf_engram(const GgufEngram& engram, const Blueprint& blueprint);

}  // namespace manyspan
