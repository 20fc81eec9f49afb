// host_tables — every host table of this build, what each requires of a processor, and whether this one has it.
#pragma once

#include <span>
#include <string_view>

#include "kernels/table.h"

namespace manyspan::kernels {

struct HostTable {
  const Table* table;
  std::span<const std::string_view> needs;  // instruction sets, by the names of device/cpu_features.h
  bool runs_here() const;
};

// Slowest first; the first needs nothing.
std::span<const HostTable> all_host_tables();

}  // namespace manyspan::kernels
