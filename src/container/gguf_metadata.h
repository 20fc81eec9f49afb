// gguf_metadata — the keys and values at the front of a GGUF file, as one JSON object that keeps every number exactly.
//
// Integers of all widths stay integers, F32 and F64 become doubles of the same value; the widths themselves are
// forgotten.
//
// Errors     corrupt: containers.md B.2, with the key
// Cost       at most 4 Mi values, so at most some 200 MB beside the texts, whatever the file says
// Spec       containers.md B.1, B.2
#pragma once

#include <cstdint>

#include "base/json.h"
#include "base/result.h"
#include "container/gguf_cursor.h"

namespace manyspan {

// Of a value, or of a list's elements.
enum class GgufValue : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, text, list, u64, i64, f64 };

inline constexpr char kGgufAlignmentKey[] = "general.alignment";

struct GgufMetadata {
  Json values = Json::Object{};  // an object, in the file's order
  std::uint32_t alignment = 32;  // a power of two
};

// `count` pairs, from the cursor on.
Result<GgufMetadata> read_gguf_metadata(GgufCursor& cursor, std::uint64_t count);

}  // namespace manyspan
