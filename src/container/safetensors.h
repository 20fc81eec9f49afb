// safetensors — reads one file of the format, refusing whatever two readers could understand differently.
//
// Errors     corrupt: containers.md A.2, rules 1 to 9
// Cost       reads the header only; memory is a small multiple of the header's length, checked before
//            allocating
// Spec       containers.md A.1, A.2
#pragma once

#include <string>

#include "base/result.h"
#include "container/container.h"

namespace manyspan {

inline constexpr std::uint64_t kMostHeaderBytes = 100'000'000;

Result<Container::Part> read_safetensors(const std::string& path);

}  // namespace manyspan
