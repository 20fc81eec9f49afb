// gguf_blueprint — the blueprint that a GGUF's keys and tensors give: the one that the model's config.json would give.
//
// Two families of files call themselves deepseek41. The first has keys of its own; which layers own rows, index keys and
// selections then follows from the tensors, and where keys say it too they must agree. The second repeats config.json's
// keys, mostly with its whole text beside them; both must say the same.
//
// Errors     unsupported: another architecture; invalid, corrupt: every fault in one message, which names keys but no
//            file; not_found: nothing is wrong, but keys are missing
// Spec       containers.md B.4, B.7, B.9
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "spec/blueprint.h"

namespace manyspan {

struct GgufTensor {
  std::string_view name;
  std::span<const std::int64_t> shape;  // the last dimension contiguous
};

struct GgufModel {
  Blueprint blueprint;
  std::vector<std::int32_t> token_map;  // Engram's class of every token; empty where the file has none
  bool row264 = false;                  // the Engram tables' rows are codes, then scales
  bool second_family = false;           // of keys
};

// `tensors` ascending by name. `token_classes`: how many classes the tokenizer gives, where the caller has one.
Result<GgufModel> read_gguf_blueprint(const Json& metadata, std::span<const GgufTensor> tensors,
                                      std::optional<std::int64_t> token_classes = std::nullopt);

// A .gguf that is no text model of ours, by its architecture. Of use before anything else is read.
Result<void> check_gguf_architecture(const Json& metadata);

}  // namespace manyspan
