// simd_score — index scores of sixteen rows at a time, as ordered 16-bit keys.
//
// Numerics   the four bf16 roundings of spec 6.4; a dot ascending in columns by fma, heads summed ascending
//            in f32. A larger key is a larger score; -0 is 0.
#pragma once

#include "kernels/select/select.h"
#include "kernels/simd_read.h"
#include "kernels/simd_rows.h"
#include "kernels/simd_tile.h"

namespace manyspan::kernels::MANYSPAN_ISA {

inline constexpr std::int64_t kMostKeyDim = 256;
inline constexpr std::int64_t kScoreRows = 256;  // heads of all queries that are scored together

// Sixteen rows of sixteen bytes, turned: to[c·16 + r] = from[r][c].
MANYSPAN_INLINE void transpose_bytes(const std::byte* const* from, std::byte* to) {
#if defined(__SSE2__)
  typedef char Bytes __attribute__((vector_size(16)));
  Bytes a[16], b[16];
  for (int r = 0; r < 16; ++r) std::memcpy(&a[r], from[r], 16);
  // Four perfect shuffles of the 256 bytes are a transposition.
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 8; ++i) {
      b[2 * i] = (Bytes)__builtin_shuffle(a[i], a[i + 8],
                                          (Bytes){0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23});
      b[2 * i + 1] = (Bytes)__builtin_shuffle(
          a[i], a[i + 8], (Bytes){8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31});
    }
    for (int i = 0; i < 16; ++i) a[i] = b[i];
  }
  std::memcpy(to, a, 256);
#else
  for (int r = 0; r < 16; ++r) {
    for (int c = 0; c < 16; ++c) to[c * 16 + r] = from[r][c];
  }
#endif
}

// Keys of rows row(0) .. row(15) of one slot as a panel [key_dim][16].
template <class Row>
MANYSPAN_INLINE void lay_keys(const SourceView& source, std::int64_t slot, Row&& row, float* panel) {
  const std::byte *codes[kLanes], *scales[kLanes];
  std::byte* page = nullptr;
  std::int64_t in_page = -1;
  for (int i = 0; i < kLanes; ++i) {
    const std::int64_t j = row(i);
    if (j / kSourcePageRows != in_page) {
      page = source.page(slot, j);
      in_page = j / kSourcePageRows;
    }
    codes[i] = source.key_codes_in(page, j);
    scales[i] = source.key_scales_in(page, j);
  }
  for (std::int64_t c = 0; c < source.key_dim; c += kTileCols) {
    std::byte tile[256], scale[kLanes];
    transpose_bytes(codes, tile);
    for (int i = 0; i < kLanes; ++i) {
      codes[i] += kTileCols / 2;
      scale[i] = scales[i][c / 32];
    }
    decode_tile<Encoding::mxfp4>({tile, scale}, 0, panel + c * kLanes);
  }
}

// The key of sixteen scores, each a bf16 value.
MANYSPAN_INLINE I key_of(F score) {
  const I u = shift_right<16>(bits(score + zero()));
  const I negative = all(0xffff) - u, positive = u + all(0x8000);
  return bits(where_less(score, zero(), from_bits(negative), from_bits(positive)));
}
MANYSPAN_INLINE Bf16 score_of(std::uint16_t key) {
  return {static_cast<std::uint16_t>((key & 0x8000u) != 0 ? key ^ 0x8000u : ~key)};
}

// Keys of sixteen rows for `queries` queries of `heads` heads, queries·heads ≤ kScoreRows: query[i·heads + h]
// is a head's row, weight[i·heads + h] its weight; query i's keys go to to[i].
MANYSPAN_INLINE void score(const float* panel, std::int64_t key_dim, const float* const* query,
                           const float* weight, std::int64_t queries, std::int64_t heads,
                           std::uint16_t* const* to) {
  alignas(64) float dots[kScoreRows * kLanes];
  std::memset(dots, 0, static_cast<std::size_t>(queries * heads) * kLanes * sizeof(float));
  add_products(queries * heads, panel, kLanes, query, 1, key_dim, dots);
  for (std::int64_t i = 0; i < queries; ++i) {
    F sum = zero();
    for (std::int64_t h = i * heads; h < (i + 1) * heads; ++h) {
      const F dot = max(round_bf16(load(dots + h * kLanes)), zero());
      sum = sum + round_bf16(dot * all(weight[h]));
    }
    store_u16(key_of(round_bf16(sum)), to[i]);
  }
}

}  // namespace manyspan::kernels::MANYSPAN_ISA
