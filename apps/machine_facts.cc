#include "apps/machine_facts.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/core.h>
#include <fstream>
#include <sched.h>
#include <sys/resource.h>

namespace manyspan::app {
namespace {

// The value of the first line that begins with `key` and a colon.
std::string entry(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || line.find_last_not_of(" \t", colon - 1) + 1 != key.size()) continue;
    if (line.compare(0, key.size(), key) != 0) continue;
    const std::size_t value = line.find_first_not_of(" \t", colon + 1);
    return value == std::string::npos ? "" : line.substr(value);
  }
  return "";
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::int64_t kibibytes(const char* path, const char* key) {
  return std::strtoll(entry(path, key).c_str(), nullptr, 10) * 1024;
}

// The smallest limit of this process's control group and of those around it (version 2).
std::int64_t group_limit() {
  const std::string own = first_line("/proc/self/cgroup");
  if (own.compare(0, 3, "0::") != 0) return 0;
  std::int64_t limit = 0;
  std::filesystem::path group = own.substr(3);
  while (true) {
    const std::string text = first_line("/sys/fs/cgroup" + group.string() + "/memory.max");
    const std::int64_t bytes = std::strtoll(text.c_str(), nullptr, 10);
    if (bytes > 0) limit = limit == 0 ? bytes : std::min(limit, bytes);
    if (!group.has_relative_path()) return limit;
    group = group.parent_path();
  }
}

std::int64_t resource_limit(int resource) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0) return 0;
  return limit.rlim_cur == RLIM_INFINITY ? -1 : static_cast<std::int64_t>(limit.rlim_cur);
}

// "always [madvise] never" to "madvise".
std::string chosen(const std::string& choices) {
  const std::size_t open = choices.find('['), shut = choices.find(']');
  if (open == std::string::npos || shut == std::string::npos || shut < open) return "";
  return choices.substr(open + 1, shut - open - 1);
}

std::vector<std::string> instruction_sets() {
  std::vector<std::string> sets = {"generic"};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) sets.emplace_back("avx2");
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    sets.emplace_back("avx512");
  }
#endif
  return sets;
}

int numa_nodes() {
  int nodes = 0;
  std::error_code absent;
  for (const auto& node : std::filesystem::directory_iterator("/sys/devices/system/node", absent)) {
    const std::string name = node.path().filename().string();
    if (name.compare(0, 4, "node") == 0 && name.find_first_not_of("0123456789", 4) == std::string::npos) {
      ++nodes;
    }
  }
  return nodes;
}

}  // namespace

MachineFacts machine_facts() {
  MachineFacts facts;
  facts.cpu = entry("/proc/cpuinfo", "model name");
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof usable, &usable) == 0) facts.cores = CPU_COUNT(&usable);
  facts.numa_nodes = numa_nodes();
  facts.memory_bytes = kibibytes("/proc/meminfo", "MemTotal");
  facts.available_bytes = kibibytes("/proc/meminfo", "MemAvailable");
  facts.allowed_bytes = group_limit();
  facts.locked_bytes = resource_limit(RLIMIT_MEMLOCK);
  facts.open_files = resource_limit(RLIMIT_NOFILE);
  facts.huge_pages = chosen(first_line("/sys/kernel/mm/transparent_hugepage/enabled"));
  facts.instruction_sets = instruction_sets();
  return facts;
}

std::string shown_bytes(std::int64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (amount >= 1024 && unit + 1 < std::size(kUnits)) {
    amount /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", amount, kUnits[unit]);
}

}  // namespace manyspan::app
