// simd_product — neighbouring tiles of a matrix times some rows: what linear, experts, mix and remember share.
//
// Numerics   the law of linear.h: K in reduction_parts, each ascending from zero, parts added ascending
// Cost       weights are decoded once for all rows of a call, on the way into registers where rows are few
#pragma once

#include "kernels/simd_rows.h"
#include "kernels/simd_team.h"
#include "kernels/simd_tile.h"

namespace manyspan::kernels::MANYSPAN_ISA {

inline constexpr int kTilesAtOnce = 2;          // 32 outputs: a whole group of the FP8 grid
inline constexpr std::int64_t kMostRows = 192;  // of one call; its scratch lies on the stack
inline constexpr std::int64_t kChunkRows =
    384;  // that an operation takes through at a time: bounds its scratch

// out[(tile·rows + r)·16 + lane] for `tiles` ≤ 2 tiles of w from `first` on, and `rows` ≤ kMostRows rows x[r]
// of padded_cols(K) numbers each.
void tile_products(const Weight& w, std::int64_t first, int tiles, const float* const* x, std::int64_t rows,
                   float* out);

// Rows of one unit of work when `rows` of them meet `across` units of columns: large, but enough units for all.
MANYSPAN_INLINE std::int64_t unit_rows(std::int64_t rows, std::int64_t across, const Workers& workers) {
  std::int64_t unit = kMostRows;
  while (unit > 12 && (rows + unit - 1) / unit * across < 3 * workers.threads()) unit /= 2;
  return unit;
}

// Neighbouring units of columns that one thread takes where rows are few: what follows in memory comes next.
MANYSPAN_INLINE std::int64_t columns_together(std::int64_t rows, std::int64_t across,
                                              const Workers& workers) {
  const std::int64_t each = across / (4 * workers.threads());
  return rows > 2 || each < 1 ? 1 : each;
}

// A guess of what a call of tile_products costs, in cycles.
constexpr std::int64_t product_cycles(std::int64_t cols, std::int64_t rows) { return cols * (8 + 2 * rows); }

}  // namespace manyspan::kernels::MANYSPAN_ISA
