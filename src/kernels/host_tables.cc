#include "kernels/host_tables.h"

#include <algorithm>
#include <vector>

#include "device/cpu_features.h"

namespace manyspan::kernels {

namespace generic {
extern const Table kTable;
}
#if defined(__x86_64__)
namespace avx2 {
extern const Table kTable;
}
namespace avx512 {
extern const Table kTable;
}
#endif

namespace {

#if defined(__x86_64__)
constexpr std::string_view kAvx2[] = {"avx2", "fma", "f16c", "bmi2"};
constexpr std::string_view kAvx512[] = {"avx2",    "fma",      "f16c",     "bmi2",
                                        "avx512f", "avx512bw", "avx512dq", "avx512vl"};
#endif

const HostTable kAll[] = {
    {&generic::kTable, {}},
#if defined(__x86_64__)
    {&avx2::kTable, kAvx2},
    {&avx512::kTable, kAvx512},
#endif
};

}  // namespace

bool HostTable::runs_here() const { return std::all_of(needs.begin(), needs.end(), cpu_has); }

std::span<const HostTable> all_host_tables() { return kAll; }

std::span<const Table* const> host_tables() {
  static const std::vector<const Table*> here = [] {
    std::vector<const Table*> tables;
    for (const HostTable& t : kAll) {
      if (t.runs_here()) tables.push_back(t.table);
    }
    return tables;
  }();
  return here;
}

}  // namespace manyspan::kernels
