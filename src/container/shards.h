// shards — a directory's files as one list of parts: safetensors by the index, or all of them; else its one GGUF.
//
// Errors     corrupt: containers.md A.2, rule 10; not_found: a named file or all files are missing
// Spec       containers.md A.1 "Index", A.2
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "container/container.h"

namespace manyspan {

inline constexpr char kIndexName[] = "model.safetensors.index.json";

// The index's shards. Files of the same numbered set that the index leaves out are looked into as well, so that no
// tensor can be in two.
Result<std::vector<Container::Part>> read_indexed_shards(const std::string& index_path);

// The index, else model.safetensors, else every *.safetensors, else the one GGUF model.
Result<std::vector<Container::Part>> read_directory(const std::string& directory);

// Whether read_directory would go on to the GGUF model.
Result<bool> holds_only_gguf(const std::string& directory);

}  // namespace manyspan
