// simd_tile — the inner loop of every product: sixteen outputs side by side, a few rows of x at once.
//
// Numerics   each output is summed ascending in k, by fma, into its own lane; which rows share a call never
//            changes an output
#pragma once

#include "kernels/simd_grid.h"
#include "tensor/weight.h"

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
template <int R>
MANYSPAN_INLINE void add_products(const float* w, std::int64_t w_next, const float* const* x,
                                  std::int64_t x_next, std::int64_t count, float* sums) {
  F s[R];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) s[r] = load(sums + r * kLanes);
  const float* row[R];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) row[r] = x[r];
  for (std::int64_t k = 0; k < count; ++k) {
    const F weights = load(w + k * w_next);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) s[r] = fma(weights, all(row[r][k * x_next]), s[r]);
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) store(s[r], sums + r * kLanes);
}

template <int R>
MANYSPAN_INLINE void add_products_rest(int rows, const float* w, std::int64_t w_next, const float* const* x,
                                       std::int64_t x_next, std::int64_t count, float* sums) {
  if constexpr (R > 0) {
    if (rows == R) return add_products<R>(w, w_next, x, x_next, count, sums);
    add_products_rest<R - 1>(rows, w, w_next, x, x_next, count, sums);
  }
}

// The same for any number of rows.
MANYSPAN_INLINE void add_products(std::int64_t rows, const float* w, std::int64_t w_next,
                                  const float* const* x, std::int64_t x_next, std::int64_t count,
                                  float* sums) {
  std::int64_t r = 0;
  for (; r + kRowsAtOnce <= rows; r += kRowsAtOnce) {
    add_products<kRowsAtOnce>(w, w_next, x + r, x_next, count, sums + r * kLanes);
  }
  add_products_rest<kRowsAtOnce - 1>(static_cast<int>(rows - r), w, w_next, x + r, x_next, count,
                                     sums + r * kLanes);
}

// One tile of 16 rows x 32 columns, decoded: out[k·16 + r].
MANYSPAN_INLINE void decode_tile(Encoding encoding, const std::byte* codes, const std::byte* scales,
                                 float* out) {
  switch (encoding) {
    case Encoding::f32:
      std::memcpy(out, codes, kTileRows * kTileCols * sizeof(float));
      return;
    case Encoding::bf16:
      for (int k = 0; k < kTileCols; ++k) {
        store(load(reinterpret_cast<const Bf16*>(codes) + k * kTileRows), out + k * kTileRows);
      }
      return;
    case Encoding::fp8_block32:
    case Encoding::mxfp8:
    case Encoding::mxfp4:
      break;
    default:
      return;
  }
  float scale[kTileRows];
  std::uint32_t top = 0;
  for (int r = 0; r < kTileRows; ++r) {
    const auto code = static_cast<std::uint8_t>(scales[encoding == Encoding::fp8_block32 ? r / 8 : r]);
    scale[r] = power(code);
    top = code > top ? code : top;
  }
  const F by = load(scale);
  if (encoding == Encoding::mxfp4) {
    const F half = by * all(0.5f);
    for (int k = 0; k < kTileCols; k += 2) {
      const Nibbles n = e2m1_doubled(codes + k / 2 * kTileRows);
      store(n.low * half, out + k * kTileRows);
      store(n.high * half, out + (k + 1) * kTileRows);
    }
  } else if (top <= 127 + 7) {
    const F unit = by * all(kE4m3Unit);
    for (int k = 0; k < kTileCols; ++k) store(e4m3_small(codes + k * kTileRows) * unit, out + k * kTileRows);
  } else {  // the two factors in one would not be a number
    for (int k = 0; k < kTileCols; ++k) {
      store(e4m3_small(codes + k * kTileRows) * all(kE4m3Unit) * by, out + k * kTileRows);
    }
  }
}

}  // namespace manyspan::kernels::MANYSPAN_ISA
