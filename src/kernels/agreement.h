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

namespace manyspan::kernels {

// A fixed stream of numbers.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : state_(seed * 2 + 1) {}

  std::uint32_t word() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(state_ >> 33) ^ static_cast<std::uint32_t>(state_ >> 57);
  }
  std::int32_t below(std::int32_t n) {
    return static_cast<std::int32_t>(word() % static_cast<std::uint32_t>(n));
  }
  // About normal, of spread one.
  float normal() {
    float sum = 0;
    for (int i = 0; i < 4; ++i) sum += static_cast<float>(word() & 0xffff) / 65536.0f - 0.5f;
    return sum * 1.7f;
  }
  float number(float mean, float spread) {
    const float x = mean + spread * normal();
    const std::int32_t odd = below(400);
    return odd == 0 ? 100 * x : odd == 1 ? 1000 * x : x;
  }
  std::vector<Bf16> bf16(std::int64_t count, float mean = 0.1f, float spread = 1) {
    std::vector<Bf16> v(static_cast<std::size_t>(count));
    for (Bf16& x : v) x = to_bf16(number(mean, spread));
    return v;
  }
  std::vector<float> f32(std::int64_t count, float mean = 0.1f, float spread = 1) {
    std::vector<float> v(static_cast<std::size_t>(count));
    for (float& x : v) x = mean + spread * normal();
    return v;
  }

 private:
  std::uint64_t state_;
};

// A weight and its bytes.
struct Matrix {
  Weight w = {};
  std::vector<std::byte> codes, scales;

  void point() { w.codes = codes.data(), w.scales = scales.empty() ? nullptr : scales.data(); }
};

// `count` plain matrices, one behind the other.
inline Matrix plain_matrix(Chance& chance, Encoding encoding, std::int32_t rows, std::int32_t cols,
                           std::int32_t count = 1) {
  Matrix m;
  m.w.rows = rows, m.w.cols = cols, m.w.encoding = encoding;
  m.w.next_codes = code_bytes(m.w), m.w.next_scales = scale_bytes(m.w);
  m.codes.resize(static_cast<std::size_t>(m.w.next_codes * count));
  m.scales.resize(static_cast<std::size_t>(m.w.next_scales * count));
  for (std::byte& s : m.scales) s = static_cast<std::byte>(112 + chance.below(9));
  if (encoding == Encoding::f32 || encoding == Encoding::bf16) {
    const float spread = 1 / std::sqrt(static_cast<float>(cols));
    for (std::size_t i = 0; i < m.codes.size() / (code_bits(encoding) / 8); ++i) {
      const float x = chance.number(0.1f * spread, spread);
      const Bf16 b = to_bf16(x);
      if (encoding == Encoding::f32) std::memcpy(m.codes.data() + 4 * i, &x, 4);
      if (encoding == Encoding::bf16) std::memcpy(m.codes.data() + 2 * i, &b, 2);
    }
  } else {
    for (std::byte& c : m.codes) {
      auto code = static_cast<std::uint8_t>(chance.word());
      if (encoding != Encoding::mxfp4 && (code & 0x7f) == 0x7f) code = 0x12;  // no NaN
      c = static_cast<std::byte>(code);
    }
  }
  m.point();
  return m;
}

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
