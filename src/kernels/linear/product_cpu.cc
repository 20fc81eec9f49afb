#include "kernels/linear/linear.h"
#include "kernels/simd_product.h"

namespace manyspan::kernels::MANYSPAN_ISA {
namespace {

constexpr std::int64_t kPanelTiles = 4;  // along K: 128 columns of two tiles are 16 KB of f32
constexpr std::int64_t kFewRows = 2;     // up to so many, weights go from memory to registers without a panel
constexpr std::int64_t kAhead = 1024;    // bytes of each strip that are asked for before they are read

// The tiles of sixteen rows, along K.
struct Strip {
  const std::byte* codes;
  const std::byte* scales;
};

MANYSPAN_INLINE Strip strip(const Weight& w, std::int64_t tile) {
  const std::int64_t at = tile * tiles_across(w);
  return {w.codes + at * tile_code_bytes(w.encoding), w.scales + at * tile_scale_bytes(w.encoding)};
}

// Tiles [begin, end) of each strip, one by one into a panel, then times all rows.
void by_panels(Encoding e, const Strip* strips, int tiles, const float* const* x, std::int64_t rows,
               std::int64_t begin, std::int64_t end, float* sums) {
  alignas(64) float panel[kTilesAtOnce][kPanelTiles * kTileRows * kTileCols];
  const float* at[kMostRows] = {};
  for (std::int64_t t = begin; t < end; t += kPanelTiles) {
    const std::int64_t deep = end - t < kPanelTiles ? end - t : kPanelTiles;
    for (std::int64_t r = 0; r < rows; ++r) at[r] = x[r] + t * kTileCols;
    for (int i = 0; i < tiles; ++i) {
      for (std::int64_t d = 0; d < deep; ++d) {
        decode_tile(e, strips[i].codes + (t + d) * tile_code_bytes(e),
                    strips[i].scales + (t + d) * tile_scale_bytes(e), panel[i] + d * kTileRows * kTileCols);
      }
      add_products(rows, panel[i], kTileRows, at, 1, deep * kTileCols, sums + i * rows * kLanes);
    }
  }
}

// How one tile's weights come into registers: column(k) is sixteen rows of one column.
template <Encoding E>
struct Reader {
  const std::byte* codes;
  F by;

  MANYSPAN_INLINE F column(int k) const {
    if constexpr (E == Encoding::f32) return load(reinterpret_cast<const float*>(codes) + k * kTileRows);
    if constexpr (E == Encoding::bf16) return load(reinterpret_cast<const Bf16*>(codes) + k * kTileRows);
    if constexpr (E == Encoding::fp8_block32 || E == Encoding::mxfp8) {
      return e4m3_small(codes + k * kTileRows) * by;
    }
  }
};

// Sums of R rows and T strips over tiles [begin, end), weights decoded on the way into registers.
template <Encoding E, int T, int R>
__attribute__((noinline)) void in_registers(const Strip* strips, const float* const* x, std::int64_t begin,
                                            std::int64_t end, float* sums) {
  constexpr bool kScaled = E != Encoding::f32 && E != Encoding::bf16;
  constexpr std::int64_t kCodes = tile_code_bytes(E), kScales = tile_scale_bytes(E);
  F s[T][R];
#pragma GCC unroll 4
  for (int i = 0; i < T; ++i) {
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) s[i][r] = zero();
  }
  for (std::int64_t t = begin; t < end; ++t) {
    Reader<E> from[T];
    bool small = true;
#pragma GCC unroll 4
    for (int i = 0; i < T; ++i) {
      from[i].codes = strips[i].codes + t * kCodes;
      for (std::int64_t line = 0; line < kCodes; line += 64)
        __builtin_prefetch(from[i].codes + kAhead + line);
      if constexpr (kScaled) {
        const TileScale scale = tile_scale<E>(strips[i].scales + t * kScales);
        from[i].by = E == Encoding::mxfp4 ? scale.by * all(0.5f) : scale.by * all(kE4m3Unit);
        small = small && (E == Encoding::mxfp4 || scale.top <= kMostForUnit);
      }
    }
    const float* at[R];
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) at[r] = x[r] + t * kTileCols;
    if (!small) {  // rare: such a scale is far beyond any weight's
#pragma GCC unroll 4
      for (int i = 0; i < T; ++i) {
        alignas(64) float tile[kTileRows * kTileCols], part[R * kLanes];
        decode_tile(E, from[i].codes, strips[i].scales + t * kScales, tile);
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) store(s[i][r], part + r * kLanes);
        add_products_of<R, false>(tile, kTileRows, at, 1, kTileCols, part);
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) s[i][r] = load(part + r * kLanes);
      }
      continue;
    }
    if constexpr (E == Encoding::mxfp4) {
      for (int k = 0; k < kTileCols; k += 2) {
#pragma GCC unroll 4
        for (int i = 0; i < T; ++i) {
          const Nibbles n = e2m1_doubled(from[i].codes + k / 2 * kTileRows);
          const F low = n.low * from[i].by, high = n.high * from[i].by;
#pragma GCC unroll 4
          for (int r = 0; r < R; ++r) s[i][r] = fma(low, all(at[r][k]), s[i][r]);
#pragma GCC unroll 4
          for (int r = 0; r < R; ++r) s[i][r] = fma(high, all(at[r][k + 1]), s[i][r]);
        }
      }
    } else {
      for (int k = 0; k < kTileCols; ++k) {
#pragma GCC unroll 4
        for (int i = 0; i < T; ++i) {
          const F weights = from[i].column(k);
#pragma GCC unroll 4
          for (int r = 0; r < R; ++r) s[i][r] = fma(weights, all(at[r][k]), s[i][r]);
        }
      }
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < T; ++i) {
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) store(s[i][r], sums + (i * R + r) * kLanes);
  }
}

template <Encoding E>
void few_rows(const Strip* strips, int tiles, const float* const* x, std::int64_t rows, std::int64_t begin,
              std::int64_t end, float* sums) {
  if (tiles == 2 && rows == 1) return in_registers<E, 2, 1>(strips, x, begin, end, sums);
  if (tiles == 2) return in_registers<E, 2, 2>(strips, x, begin, end, sums);
  if (rows == 1) return in_registers<E, 1, 1>(strips, x, begin, end, sums);
  return in_registers<E, 1, 2>(strips, x, begin, end, sums);
}

// One part of K: from zero.
void sum_part(Encoding e, const Strip* strips, int tiles, const float* const* x, std::int64_t rows,
              std::int64_t begin, std::int64_t end, float* sums) {
  if (rows <= kFewRows) {
    switch (e) {
      case Encoding::f32:
        return few_rows<Encoding::f32>(strips, tiles, x, rows, begin, end, sums);
      case Encoding::bf16:
        return few_rows<Encoding::bf16>(strips, tiles, x, rows, begin, end, sums);
      case Encoding::fp8_block32:
        return few_rows<Encoding::fp8_block32>(strips, tiles, x, rows, begin, end, sums);
      case Encoding::mxfp8:
        return few_rows<Encoding::mxfp8>(strips, tiles, x, rows, begin, end, sums);
      case Encoding::mxfp4:
        return few_rows<Encoding::mxfp4>(strips, tiles, x, rows, begin, end, sums);
      default:
        break;
    }
  }
  std::memset(sums, 0, static_cast<std::size_t>(tiles * rows * kLanes) * sizeof(float));
  by_panels(e, strips, tiles, x, rows, begin, end, sums);
}

}  // namespace

void tile_products(const Weight& w, std::int64_t first, int tiles, const float* const* x, std::int64_t rows,
                   float* out) {
  alignas(64) float part_sums[kTilesAtOnce * kMostRows * kLanes];
  const std::int64_t numbers = tiles * rows * kLanes, across = tiles_across(w);
  Strip strips[kTilesAtOnce] = {};
  for (int i = 0; i < tiles; ++i) strips[i] = strip(w, first + i);
  const int parts = reduction_parts(w.cols);
  for (int p = 0; p < parts; ++p) {
    const std::int64_t begin = part_begin(w.cols, p) / kTileCols;
    const std::int64_t end = p + 1 == parts ? across : part_begin(w.cols, p + 1) / kTileCols;
    sum_part(w.encoding, strips, tiles, x, rows, begin, end, p == 0 ? out : part_sums);
    for (std::int64_t n = 0; p > 0 && n < numbers; n += kLanes) {
      store(load(out + n) + load(part_sums + n), out + n);
    }
  }
}

}  // namespace manyspan::kernels::MANYSPAN_ISA
