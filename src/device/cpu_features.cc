#include "device/cpu_features.h"

#include <algorithm>

namespace manyspan {

std::span<const CpuFeature> cpu_features() {
#if defined(__x86_64__)
  static const CpuFeature kFeatures[] = {
      {"avx2", __builtin_cpu_supports("avx2") != 0},
      {"fma", __builtin_cpu_supports("fma") != 0},
      {"f16c", __builtin_cpu_supports("f16c") != 0},
      {"bmi2", __builtin_cpu_supports("bmi2") != 0},
      {"avx512f", __builtin_cpu_supports("avx512f") != 0},
      {"avx512bw", __builtin_cpu_supports("avx512bw") != 0},
      {"avx512dq", __builtin_cpu_supports("avx512dq") != 0},
      {"avx512vl", __builtin_cpu_supports("avx512vl") != 0},
  };
  return kFeatures;
#else
  return {};
#endif
}

bool cpu_has(std::string_view name) {
  const auto all = cpu_features();
  return std::any_of(all.begin(), all.end(), [&](const CpuFeature& f) { return f.name == name && f.here; });
}

}  // namespace manyspan
