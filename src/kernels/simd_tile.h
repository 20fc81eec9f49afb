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

// What sixteen rows of a tile are multiplied with, and the largest of the codes.
struct TileScale {
  F by;
  std::uint32_t top;
};
inline constexpr std::uint32_t kMostForUnit = 127 + 7;  // up to this, scale · kE4m3Unit is a number

template <Encoding E>
MANYSPAN_INLINE TileScale tile_scale(const std::byte* scales) {
  TileScale s;
  if constexpr (E == Encoding::fp8_block32) {
    const auto low = static_cast<std::uint32_t>(scales[0]), high = static_cast<std::uint32_t>(scales[1]);
    s.by = halves(power(low), power(high));
    s.top = low > high ? low : high;
  } else {
    const I codes = load_i8(scales) & all(255);
    s.by = from_bits(max(shift_left<23>(codes), all(0x00400000)));  // code 0 is half the least normal number
    s.top = static_cast<std::uint32_t>(largest(to_f32(codes)));
  }
  return s;
}

template <Encoding E>
MANYSPAN_INLINE void decode_scaled(const std::byte* codes, const std::byte* scales, float* out) {
  const TileScale scale = tile_scale<E>(scales);
  if constexpr (E == Encoding::mxfp4) {
    const F half = scale.by * all(0.5f);
    for (int k = 0; k < kTileCols; k += 2) {
      const Nibbles n = e2m1_doubled(codes + k / 2 * kTileRows);
      store(n.low * half, out + k * kTileRows);
      store(n.high * half, out + (k + 1) * kTileRows);
    }
  } else if (scale.top <= kMostForUnit) {
    const F unit = scale.by * all(kE4m3Unit);
    for (int k = 0; k < kTileCols; ++k) {
      store(e4m3_small(codes + k * kTileRows) * unit, out + k * kTileRows);
    }
  } else {
    for (int k = 0; k < kTileCols; ++k) {
      store(e4m3_small(codes + k * kTileRows) * all(kE4m3Unit) * scale.by, out + k * kTileRows);
    }
  }
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
      return decode_scaled<Encoding::fp8_block32>(codes, scales, out);
    case Encoding::mxfp8:
      return decode_scaled<Encoding::mxfp8>(codes, scales, out);
    case Encoding::mxfp4:
      return decode_scaled<Encoding::mxfp4>(codes, scales, out);
    default:
      return;
  }
}

}  // namespace manyspan::kernels::MANYSPAN_ISA
