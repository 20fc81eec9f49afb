// gguf_types — which StoredType a GGUF's type number means, and how many bytes a shape then takes.
//
// Forks use 42 and 43 for types of their own, so those numbers may have more than one reading: gguf.cc settles them
// by the bytes that the tensors have.
//
// Errors     unsupported: a number that is withdrawn, another program's, or not known; corrupt: dimensions that
//            overflow, or rows that are no whole blocks
// Spec       quant_formats.md 3, 6
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "container/stored_type.h"

namespace manyspan {

// One, but for the numbers that forks use differently.
Result<std::span<const StoredType>> gguf_readings(std::uint32_t number);

// The number to write; none for a type that GGUF does not have.
std::optional<std::uint32_t> gguf_number(StoredType type);

// Of a shape whose last dimension is contiguous.
Result<std::uint64_t> gguf_bytes(std::span<const std::int64_t> shape, StoredType type);

}  // namespace manyspan
