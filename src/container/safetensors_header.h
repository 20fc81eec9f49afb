// safetensors_header — the JSON at the front of a safetensors file, as tensors and metadata.
//
// Errors     corrupt, with line and column and, where known, the tensor
// Spec       containers.md A.2, rules 2 to 7 and 9
#pragma once

#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "container/container.h"

namespace manyspan {

struct SafetensorsHeader {
  std::vector<StoredTensor> tensors;  // in the header's order; offsets from the first byte of data
  Json metadata;                      // an object of strings
};

Result<SafetensorsHeader> read_safetensors_header(std::string_view text);

}  // namespace manyspan
