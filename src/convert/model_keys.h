// model_keys — what stands beside the tensors: a GGUF's keys, or the files of an official folder, from any checkpoint.
//
// Errors     unsupported: something about the model that the container cannot say, by name
// Spec       containers.md A.4, B.4, B.8
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "container/gguf_write.h"
#include "convert/plan.h"
#include "engine/checkpoint.h"

namespace manyspan {

// All keys of the first part. They are read again, and must give the checkpoint's numbers.
Result<GgufKeys> gguf_keys_of(const Checkpoint& checkpoint, const ConvertPlan& plan);

// The text of generation_config.json, from the file or from a GGUF's key; nothing where neither is there.
Result<std::optional<std::string>> generation_config_of(const Checkpoint& checkpoint);

struct SideFile {
  std::string name, text;
};

// config.json and, where the checkpoint has what is in them, the tokenizer's files, generation_config.json and
// engram_token_map.json. What cannot be said is added to `notes`.
Result<std::vector<SideFile>> side_files(const Checkpoint& checkpoint, const ConvertPlan& plan,
                                         std::vector<std::string>& notes);

}  // namespace manyspan
