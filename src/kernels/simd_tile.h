// simd_tile — the inner loop of every product: sixteen outputs side by side, a few rows of x at once.
//
// Numerics   each output is summed ascending in k, by fma, into its own lane; which rows share a call never
//            changes an output
#pragma once

#include "kernels/simd.h"

namespace manyspan::kernels::MANYSPAN_ISA {

// Rows of x that one pass of the inner loop holds in registers.
#if defined(MANYSPAN_ISA_avx512)
inline constexpr int kRowsAtOnce = 12;
#elif defined(MANYSPAN_ISA_avx2)
inline constexpr int kRowsAtOnce = 6;
#else
inline constexpr int kRowsAtOnce = 2;
#endif

// sums[r] += Σ_k w[k·w_next + lane] · x[r][k·x_next], k ascending. `sums` has sixteen numbers a row.
// Twins: lanes 0 to 7 belong to row 2r, lanes 8 to 15 to row 2r + 1, for what has only eight outputs.
// A function of its own, so that nothing around it takes registers from the sums.
template <int R, bool Twins>
__attribute__((noinline)) void add_products_of(const float* w, std::int64_t w_next, const float* const* x,
                                               std::int64_t x_next, std::int64_t count, float* sums) {
  constexpr int kRows = Twins ? 2 * R : R;
  F s[R];
  const float* row[kRows];
#pragma GCC unroll 32
  for (int r = 0; r < R; ++r) s[r] = load(sums + r * kLanes);
#pragma GCC unroll 32
  for (int r = 0; r < kRows; ++r) row[r] = x[r];
  for (std::int64_t k = 0; k < count; ++k) {
    const F weights = load(w + k * w_next);
#pragma GCC unroll 32
    for (int r = 0; r < R; ++r) {
      if constexpr (Twins) {
        s[r] = fma(weights, halves(row[2 * r][k * x_next], row[2 * r + 1][k * x_next]), s[r]);
      } else {
        s[r] = fma(weights, all(row[r][k * x_next]), s[r]);
      }
    }
  }
#pragma GCC unroll 32
  for (int r = 0; r < R; ++r) store(s[r], sums + r * kLanes);
}

template <int R, bool Twins>
MANYSPAN_INLINE void add_products_some(int rows, const float* w, std::int64_t w_next, const float* const* x,
                                       std::int64_t x_next, std::int64_t count, float* sums) {
  if constexpr (R > 0) {
    if (rows == R) return add_products_of<R, Twins>(w, w_next, x, x_next, count, sums);
    add_products_some<R - 1, Twins>(rows, w, w_next, x, x_next, count, sums);
  }
}

// The same for any number of rows, or pairs of twins.
template <bool Twins = false>
MANYSPAN_INLINE void add_products(std::int64_t rows, const float* w, std::int64_t w_next,
                                  const float* const* x, std::int64_t x_next, std::int64_t count,
                                  float* sums) {
  constexpr int kEach = Twins ? 2 : 1, kMost = kRowsAtOnce;
  std::int64_t r = 0;
  for (; r + 2 * kMost <= rows || rows - r == kMost; r += kMost) {
    add_products_of<kMost, Twins>(w, w_next, x + kEach * r, x_next, count, sums + r * kLanes);
  }
  // What is left goes in two even passes rather than one full and one nearly empty, which would wait on itself.
  while (r < rows) {
    const std::int64_t left = rows - r, now = left > kMost ? (left + 1) / 2 : left;
    add_products_some<kMost, Twins>(static_cast<int>(now), w, w_next, x + kEach * r, x_next, count,
                                    sums + r * kLanes);
    r += now;
  }
}

}  // namespace manyspan::kernels::MANYSPAN_ISA
