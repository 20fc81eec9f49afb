// agreement — what a test of every host table needs: numbers with outliers, matrices in each table's tiling, and
// the tables themselves.
//
// Inputs are lopsided on purpose: means are not zero, scales differ from block to block and row to row, and a
// few numbers are far larger than the rest, so that a scale read across instead of down does not pass.
#pragma once

#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/host_tables.h"
#include "kernels/layout.h"
#include "kernels/table.h"
#include "kernels/trial.h"
#include "kernels/trial_matrix.h"

namespace manyspan::kernels {

// The matrices (`count` of them) as a table reads them; `halves`: each is w1 over w3.
inline Matrix arranged_for(const Table& table, const Matrix& plain, bool halves = false,
                           std::int32_t count = 1) {
  Matrix m;
  const RowOrder order = halves ? table.expert_order : RowOrder::natural;
  Weight from = plain.w;
  m.w = arranged(from, table.tiling, order);
  m.w.next_codes = arranged_code_bytes(m.w), m.w.next_scales = arranged_scale_bytes(m.w);
  m.codes.resize(static_cast<std::size_t>(m.w.next_codes * count));
  m.scales.resize(static_cast<std::size_t>(m.w.next_scales * count));
  for (std::int32_t e = 0; e < count; ++e) {
    arrange(nth(plain.w, e), m.w, m.codes.data() + e * m.w.next_codes, m.scales.data() + e * m.w.next_scales);
  }
  m.point();
  return m;
}

// body(table) for every table that this machine can run. The others are told, once a program.
inline void each_table(const std::function<void(const Table&)>& body) {
  for (const HostTable& t : all_host_tables()) {
    if (!t.runs_here()) {
      static const int told = std::printf("[  LACKS   ] %s: this machine has not all its instructions\n",
                                          std::string(t.table->name).c_str());
      static_cast<void>(told);
      continue;
    }
    SCOPED_TRACE(t.table->name);
    body(*t.table);
  }
}

// How many bf16 steps lie between two numbers.
inline std::int32_t bf16_steps(Bf16 a, Bf16 b) {
  const auto order = [](Bf16 x) {
    return (x.bits & 0x8000) != 0 ? -std::int32_t{x.bits & 0x7fff} : std::int32_t{x.bits};
  };
  return std::abs(order(a) - order(b));
}

// ‖a - b‖ / ‖b‖, over n numbers.
inline double relative_error(const Bf16* a, const Bf16* b, std::int64_t n) {
  double off = 0, size = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double x = to_float(a[i]), y = to_float(b[i]);
    off += (x - y) * (x - y), size += y * y;
  }
  return size == 0 ? std::sqrt(off) : std::sqrt(off / size);
}

inline constexpr Bf16 kPoison16 = {0x7fc1};
inline bool poisoned(Bf16 x) { return x.bits == kPoison16.bits; }

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

}  // namespace manyspan::kernels
