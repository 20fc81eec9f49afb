// gguf_config — the keys of either family as the config.json that says the same.
//
// Errors     noted in the fields' faults
// Spec       containers.md B.4
#pragma once

#include "base/json.h"
#include "spec/gguf_engram.h"
#include "spec/gguf_fields.h"
#include "spec/gguf_tensors.h"

namespace manyspan {

// The first family: keys of its own.
Json config_of_own_keys(GgufFields& fields, const GgufTensors& tensors, GgufEngram& engram,
                        std::optional<std::int64_t> token_classes);

// The second: config.json's keys, and maybe its text.
Json config_of_repeated_keys(GgufFields& fields, const GgufTensors& tensors, GgufEngram& engram,
                             std::optional<std::int64_t> token_classes);

// Of both: Engram's numbers that keys do not say follow from the tensors, the tokenizer or the released model.
// `layers`: the trunk's.
void complete_engram(const GgufTensors& tensors, std::int64_t layers, bool row264,
                     std::optional<std::int64_t> token_classes, GgufEngram& engram);

}  // namespace manyspan
