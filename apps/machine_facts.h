// MachineFacts — what this machine has and allows, as far as the operating system says.
//
// Errors     none: what can't be read is left empty or 0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace manyspan::app {

struct MachineFacts {
  std::string cpu;                            // "Intel(R) Xeon(R) ..."
  int cores = 0;                              // that this process may use
  int numa_nodes = 0;                         // 0: unknown
  std::int64_t memory_bytes = 0;              // of the machine
  std::int64_t available_bytes = 0;           // without swapping, now
  std::int64_t allowed_bytes = 0;             // by the control group; 0: no limit
  std::int64_t locked_bytes = 0;              // that may be locked in memory; -1: no limit
  std::int64_t open_files = 0;                // -1: no limit
  std::string huge_pages;                     // of ordinary allocations: always, madvise or never
  std::vector<std::string> instruction_sets;  // those that kernels are written for, narrowest first
};

MachineFacts machine_facts();

// "3.2 GiB"
std::string shown_bytes(std::int64_t bytes);

}  // namespace manyspan::app
