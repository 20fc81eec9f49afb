// shard_index — model.safetensors.index.json: which file of a directory holds which tensor.
//
// Errors     corrupt: not JSON, a key twice, no weight_map, a file name that is more than a name
// Spec       containers.md A.1 "Index", A.2 rule 10
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace manyspan {

// Tensors by file, files in ascending order.
using ShardIndex = std::map<std::string, std::vector<std::string>>;

Result<ShardIndex> read_shard_index(const std::string& path);

}  // namespace manyspan
