// write_safetensors — tensors in memory to one safetensors file, whole or not at all.
//
// Tensors go by name, their data in the same order; the header is padded so that data starts at a multiple of 8.
//
// Requires   names unique, not empty, UTF-8 and at most 1,024 bytes, none "__metadata__"; data exactly as
//            long as type and shape say
// Errors     as write_file_atomically; invalid for a name or a length that breaks the above
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "container/stored_type.h"

namespace manyspan {

// A tensor whose bytes come later.
struct TensorOutline {
  std::string name;
  StoredType type;
  std::vector<std::int64_t> shape;
  std::uint64_t bytes;
};

struct TensorToWrite {
  std::string name;
  StoredType type;
  std::vector<std::int64_t> shape;
  Bytes data;  // little-endian, the last dimension contiguous
};

// All that stands before the data of tensors in the order given, which is that of their data as well.
Result<std::string> safetensors_front(std::span<const TensorOutline> tensors,
                                      const std::map<std::string, std::string>& metadata = {});

Result<void> write_safetensors(const std::string& path, std::vector<TensorToWrite> tensors,
                               const std::map<std::string, std::string>& metadata = {});

}  // namespace manyspan
