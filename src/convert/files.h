// files — the planned tensors dealt out to files, and the bytes of one file from any of them on.
//
// Errors     of make_file: as the weights' reading and recipes, with the matrix's place
// Cost       of make_file: at most some 32 MiB, or one row of a matrix and its scales
// Spec       containers.md A.1, B.1, B.3
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "container/gguf_write.h"
#include "convert/places.h"
#include "convert/plan.h"

namespace manyspan {

struct ResultFile {
  std::string front;  // all that stands before the tensors
  std::vector<PlannedTensor> tensors;
  std::uint64_t alignment = 1;  // zeros fill up to it between tensors
  std::uint64_t bytes = 0;      // of the whole file
};

// `most_bytes` 0: one file.
Result<std::vector<ResultFile>> gguf_files(const ConvertPlan& plan, const GgufKeys& keys,
                                           std::uint64_t most_bytes);
Result<std::vector<ResultFile>> safetensors_files(const ConvertPlan& plan, std::uint64_t most_bytes);

// The text of model.safetensors.index.json.
std::string index_of(const std::vector<ResultFile>& files, const Place& place);

// Takes the next bytes; false ends the making.
using TakeBytes = std::function<Result<bool>(Bytes)>;

// The file's bytes from `from` on.
Result<void> make_file(const Weights& weights, const ResultFile& file, std::uint64_t from,
                       const TakeBytes& take);

}  // namespace manyspan
