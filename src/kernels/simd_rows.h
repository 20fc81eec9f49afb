// simd_rows — a row of numbers held as f32 (each a bf16 value), zero up to whole tiles: read, norm, round, write.
//
// Numerics   norm as spec 4.7: x·r, then ·gain, each in f32, then bf16; the order of the mean's sum is a
//            function of the row's length
#pragma once

#include "kernels/simd_grid.h"
#include "kernels/simd_math.h"
#include "tensor/weight.h"

namespace manyspan::kernels::MANYSPAN_ISA {

inline constexpr std::int64_t kMostHeadDim = 512;  // rows of this length are worked on upon the stack

// Numbers of a row: whole tiles, and with a step between rows that no cache maps onto itself.
constexpr std::int64_t padded_cols(std::int64_t cols) {
  return (cols + kTileCols - 1) / kTileCols * kTileCols;
}
constexpr std::int64_t row_step(std::int64_t cols) { return padded_cols(cols) + kLanes; }

MANYSPAN_INLINE void widen(const Bf16* x, std::int64_t n, float* row) {
  std::int64_t c = 0;
  for (; c + kLanes <= n; c += kLanes) store(load(x + c), row + c);
  for (; c < padded_cols(n); c += kLanes) store(c < n ? load_first(x + c, n - c) : zero(), row + c);
}

MANYSPAN_INLINE void narrow(const float* row, std::int64_t n, Bf16* x) {
  for (std::int64_t c = 0; c < n; c += kLanes) store_at(load(row + c), x, c, n);
}

MANYSPAN_INLINE void norm(float* row, const Bf16* gain, float eps, std::int64_t n) {
  const F r = all(inverse_rms(n, eps, [&](std::int64_t c) { return load(row + c); }));
  for (std::int64_t c = 0; c < n; c += kLanes) {
    store(round_bf16(load(row + c) * r * load_at(gain, c, n)), row + c);
  }
}

// n a multiple of 32.
MANYSPAN_INLINE void grid8(float* row, std::int64_t n) {
  for (std::int64_t c = 0; c < n; c += 2 * kLanes) {
    F a = load(row + c), b = load(row + c + kLanes);
    grid8(a, b);
    store(a, row + c);
    store(b, row + c + kLanes);
  }
}
MANYSPAN_INLINE void grid4_key(float* row, std::int64_t n) {
  for (std::int64_t c = 0; c < n; c += 2 * kLanes) {
    F a = load(row + c), b = load(row + c + kLanes);
    grid4_key(a, b);
    store(a, row + c);
    store(b, row + c + kLanes);
  }
}

}  // namespace manyspan::kernels::MANYSPAN_ISA
