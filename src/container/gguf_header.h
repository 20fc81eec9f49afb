// gguf_header — the front of a GGUF file as tensors and metadata, checked against the file's size.
//
// Shapes     turned round, so that the last dimension is the contiguous one; leading ones, which writers keep or drop as
//            they like, are gone
// Errors     corrupt, with the key or tensor and both numbers that disagree; unsupported: another version or byte
//            order, or a type that is not known. Messages do not name the file
// Spec       containers.md B.1, B.2; quant_formats.md 6
#pragma once

#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "container/container.h"
#include "container/gguf_cursor.h"

namespace manyspan {

inline constexpr std::uint64_t kMostGgufNameBytes = 1024;
inline constexpr std::size_t kMostGgufRank = 4;

struct GgufHeader {
  std::vector<StoredTensor> tensors;  // in the file's order; offsets from the file's first byte
  Json metadata;                      // an object
};

Result<GgufHeader> read_gguf_header(GgufCursor& cursor);

}  // namespace manyspan
