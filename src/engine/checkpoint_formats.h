// checkpoint_formats — how a checkpoint of each format is opened; Checkpoint::open chooses.
//
// Requires   a path that is there
// Errors     as Checkpoint::open
#pragma once

#include <memory>
#include <string>

#include "engine/checkpoint.h"

namespace manyspan {

// Safetensors, with config.json and the other files of an official folder beside them.
Result<std::unique_ptr<Checkpoint>> open_official(const std::string& path, const Cancel* cancel);

// A GGUF, or the first part of a split set of them. Everything comes from its keys, nothing from files beside it.
Result<std::unique_ptr<Checkpoint>> open_gguf(const std::string& path, const Cancel* cancel);

}  // namespace manyspan
