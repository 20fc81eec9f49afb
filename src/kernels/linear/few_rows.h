// few_rows — products of one or two rows: weights go from memory to registers without being written down between.
//
// Numerics   the order of simd_tile.h: each output ascending in k, by fma
// Cost       several stretches go side by side because one alone would wait for each of its additions
#pragma once

#include "kernels/linear/product_ways.h"
#include "kernels/simd_tile.h"

namespace manyspan::kernels::MANYSPAN_ISA {

inline constexpr std::int64_t kAhead = 1024;  // bytes of each strip that are asked for before they are read

// Asks for what comes `kAhead` bytes after tile t.
template <Encoding E>
MANYSPAN_INLINE void ask_ahead(const Stretch& s, std::int64_t t, std::int64_t count) {
  constexpr std::int64_t kBytes = tile_code_bytes(E);
  const std::int64_t past = (t + 1) * kBytes + kAhead > count * kBytes ? s.next : 0;
  const std::byte* at = s.from.codes + (s.tile + t) * kBytes + past + kAhead;
  for (std::int64_t line = 0; line < kBytes; line += 64) __builtin_prefetch(at + line);
}

// s[i][r] += w · x[r] for sixteen columns of each stretch, from column `at` of x on.
template <class R, int kStretches, int kRows>
MANYSPAN_INLINE void add_half(const R* readers, const float* const* x, const std::int64_t* at,
                              F (&s)[kStretches][kRows]) {
  for (int k = 0; k < kTileCols / 2; k += 4) {
#pragma GCC unroll 4
    for (int i = 0; i < kStretches; ++i) {
      const Four w = readers[i].four(k);
#pragma GCC unroll 4
      for (int c = 0; c < 4; ++c) {
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) s[i][r] = fma(w.column[c], all(x[r][at[i] + k + c]), s[i][r]);
      }
    }
  }
}

template <Encoding E, int kStretches, int kRows>
__attribute__((noinline)) void in_registers(const Stretch* stretches, std::int64_t count,
                                            const float* const* x, float* sums) {
  F s[kStretches][kRows];
#pragma GCC unroll 4
  for (int i = 0; i < kStretches; ++i) {
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) s[i][r] = zero();
  }
  for (std::int64_t t = 0; t < count; ++t) {
    Reader<E> readers[kStretches];
    std::int64_t at[kStretches];
#pragma GCC unroll 4
    for (int i = 0; i < kStretches; ++i) {
      ask_ahead<E>(stretches[i], t, count);
      readers[i].at(stretches[i].from, stretches[i].tile + t);
      at[i] = (stretches[i].tile + t) * kTileCols;
    }
    for (int h = 0; h < 2; ++h) {
#pragma GCC unroll 4
      for (int i = 0; i < kStretches; ++i) readers[i].half(h);
      add_half(readers, x, at, s);
#pragma GCC unroll 4
      for (int i = 0; i < kStretches; ++i) at[i] += kTileCols / 2;
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < kStretches; ++i) {
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) store(s[i][r], sums + (i * kRows + r) * kLanes);
  }
}

template <Encoding E>
void few_rows(const Stretch* stretches, int some, std::int64_t count, const float* const* x,
              std::int64_t rows, float* sums) {
  if (rows == 2) {
    for (; some >= 2; some -= 2, stretches += 2, sums += 4 * kLanes) {
      in_registers<E, 2, 2>(stretches, count, x, sums);
    }
    if (some == 1) in_registers<E, 1, 2>(stretches, count, x, sums);
    return;
  }
  for (; some >= 4; some -= 4, stretches += 4, sums += 4 * kLanes) {
    in_registers<E, 4, 1>(stretches, count, x, sums);
  }
  for (; some >= 2; some -= 2, stretches += 2, sums += 2 * kLanes) {
    in_registers<E, 2, 1>(stretches, count, x, sums);
  }
  if (some == 1) in_registers<E, 1, 1>(stretches, count, x, sums);
}

template <Encoding E>
void decode_one(const Strip& strip, std::int64_t t, float* out) {
  decode_tile<E>(strip, t, out);
}

template <Encoding E>
constexpr Ways kWays = {few_rows<E>, decode_one<E>};

}  // namespace manyspan::kernels::MANYSPAN_ISA
