// cpu_features — which of the instruction sets that our code knows this machine has, as data.
//
// Threads    any
#pragma once

#include <span>
#include <string_view>

namespace manyspan {

struct CpuFeature {
  std::string_view name;  // "avx2"
  bool here;              // the processor has it and the system lets programs use it
};

std::span<const CpuFeature> cpu_features();

// Whether the named one is there; a name that we don't know is not.
bool cpu_has(std::string_view name);

}  // namespace manyspan
