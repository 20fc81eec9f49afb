// machine — the devices that layers can be placed on, and how much each holds: as data, described or found.
//
// A described machine is a JSON file, with sizes in bytes:
//
//   {"host_memory_bytes": 549755813888,
//    "devices": [{"name": "gpu0", "kind": "gpu", "memory_bytes": 51539607552,
//                 "read_bytes_per_second": 864000000000}]}
//
// Errors     corrupt, naming device and key, but no file: that is the caller's to add
// Threads    plain data
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace manyspan {

enum class DeviceKind : std::uint8_t {
  cpu,  // this and sim have their bytes in the host's memory
  gpu,
  sim,
};
std::string_view name(DeviceKind kind);

struct Machine {
  struct Device {
    std::string name;
    DeviceKind kind;
    std::int64_t memory_bytes = 0;           // 0: no bound is known
    std::int64_t read_bytes_per_second = 0;  // 0: not said; then of no device, and all count as equally fast
  };
  std::vector<Device> devices;
  std::int64_t host_memory_bytes = 0;  // 0: no bound is known
};

inline constexpr std::size_t kMostDevices = 64;

// Of the text of such a file. Speeds are given for all devices or for none.
Result<Machine> read_machine(std::string_view text);

// `count` simulated devices without a bound: "sim 0", "sim 1".
Machine simulated_machine(int count);

}  // namespace manyspan
