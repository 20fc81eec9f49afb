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

// A run of tiles of one strip that lie in one part of K: a sum of its own.
struct Stretch {
  Strip from;           // at its first tile
  std::int64_t column;  // of x, where it begins
  std::int64_t next;    // bytes from its end to what the same place of the next stretches reads
};

// Sums of T stretches of `count` tiles with R rows, weights decoded on the way into registers. Several
// stretches go side by side because one alone would wait for each of its additions.
template <Encoding E, int T, int R>
__attribute__((noinline)) void in_registers(const Stretch* stretches, std::int64_t count,
                                            const float* const* x, float* sums) {
  constexpr bool kScaled = E != Encoding::f32 && E != Encoding::bf16;
  constexpr std::int64_t kCodes = tile_code_bytes(E), kScales = tile_scale_bytes(E);
  F s[T][R];
#pragma GCC unroll 4
  for (int i = 0; i < T; ++i) {
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) s[i][r] = zero();
  }
  for (std::int64_t t = 0; t < count; ++t) {
    Reader<E> from[T];
    const float* at[T][R];
    bool small = true;
#pragma GCC unroll 4
    for (int i = 0; i < T; ++i) {
      from[i].codes = stretches[i].from.codes + t * kCodes;
      const std::int64_t past = (t + 1) * kCodes + kAhead > count * kCodes ? stretches[i].next : 0;
      for (std::int64_t line = 0; line < kCodes; line += 64) {
        __builtin_prefetch(from[i].codes + past + kAhead + line);
      }
      if constexpr (kScaled) {
        const TileScale scale = tile_scale<E>(stretches[i].from.scales + t * kScales);
        from[i].by = scale.by * all(E == Encoding::mxfp4 ? 0.5f : kE4m3Unit);
        small = small && (E == Encoding::mxfp4 || scale.top <= kMostForUnit);
      }
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) at[i][r] = x[r] + stretches[i].column + t * kTileCols;
    }
    if (!small) {  // rare: such a scale is far beyond any weight's
#pragma GCC unroll 4
      for (int i = 0; i < T; ++i) {
        alignas(64) float tile[kTileRows * kTileCols], part[R * kLanes];
        decode_tile(E, from[i].codes, stretches[i].from.scales + t * kScales, tile);
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) store(s[i][r], part + r * kLanes);
        add_products_of<R, false>(tile, kTileRows, at[i], 1, kTileCols, part);
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
          for (int r = 0; r < R; ++r) s[i][r] = fma(low, all(at[i][r][k]), s[i][r]);
#pragma GCC unroll 4
          for (int r = 0; r < R; ++r) s[i][r] = fma(high, all(at[i][r][k + 1]), s[i][r]);
        }
      }
    } else {
      for (int k = 0; k < kTileCols; ++k) {
#pragma GCC unroll 4
        for (int i = 0; i < T; ++i) {
          const F weights = from[i].column(k);
#pragma GCC unroll 4
          for (int r = 0; r < R; ++r) s[i][r] = fma(weights, all(at[i][r][k]), s[i][r]);
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

// `some` stretches of equal length; sums [stretch][row][16].
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

void few_rows(Encoding e, const Stretch* stretches, int some, std::int64_t count, const float* const* x,
              std::int64_t rows, float* sums) {
  switch (e) {
    case Encoding::f32:
      return few_rows<Encoding::f32>(stretches, some, count, x, rows, sums);
    case Encoding::bf16:
      return few_rows<Encoding::bf16>(stretches, some, count, x, rows, sums);
    case Encoding::fp8_block32:
      return few_rows<Encoding::fp8_block32>(stretches, some, count, x, rows, sums);
    case Encoding::mxfp8:
      return few_rows<Encoding::mxfp8>(stretches, some, count, x, rows, sums);
    case Encoding::mxfp4:
      return few_rows<Encoding::mxfp4>(stretches, some, count, x, rows, sums);
    default:
      return;
  }
}

constexpr int kMostParts = 8;

struct Range {
  std::int64_t begin, end;  // tiles along K
};
MANYSPAN_INLINE Range range_of(const Weight& w, int part) {
  const bool last = part + 1 == reduction_parts(w.cols);
  return {part_begin(w.cols, part) / kTileCols,
          last ? tiles_across(w) : part_begin(w.cols, part + 1) / kTileCols};
}

// All parts of all strips, those of equal length side by side; out[(part·tiles + tile)·rows + row][16].
void few_rows_by_parts(const Weight& w, const Strip* strips, int tiles, const float* const* x,
                       std::int64_t rows, float* out) {
  Stretch stretches[kMostParts * kTilesAtOnce];
  const int parts = reduction_parts(w.cols);
  int waiting = 0;
  std::int64_t length = 0;
  const auto flush = [&] {
    few_rows(w.encoding, stretches, waiting, length, x, rows, out);
    out += waiting * rows * kLanes;
    waiting = 0;
  };
  const std::int64_t tile_bytes = tile_code_bytes(w.encoding);
  for (int p = 0; p < parts; ++p) {
    const Range at = range_of(w, p);
    if (waiting > 0 && at.end - at.begin != length) flush();
    length = at.end - at.begin;
    for (int i = 0; i < tiles; ++i) {
      stretches[waiting++] = {{strips[i].codes + at.begin * tile_bytes,
                               strips[i].scales + at.begin * tile_scale_bytes(w.encoding)},
                              at.begin * kTileCols,
                              parts == 1 ? (tiles - 1) * tiles_across(w) * tile_bytes : 0};
    }
  }
  flush();
}

}  // namespace

void tile_products(const Weight& w, std::int64_t first, int tiles, const float* const* x, std::int64_t rows,
                   float* out) {
  const std::int64_t numbers = tiles * rows * kLanes;
  Strip strips[kTilesAtOnce] = {};
  for (int i = 0; i < tiles; ++i) strips[i] = strip(w, first + i);
  const int parts = reduction_parts(w.cols);
  if (rows <= kFewRows) {
    alignas(64) float sums[kMostParts * kTilesAtOnce * kFewRows * kLanes];
    few_rows_by_parts(w, strips, tiles, x, rows, sums);
    for (std::int64_t n = 0; n < numbers; n += kLanes) {
      F total = load(sums + n);
      for (int p = 1; p < parts; ++p) total = total + load(sums + p * numbers + n);
      store(total, out + n);
    }
    return;
  }
  alignas(64) float part_sums[kTilesAtOnce * kMostRows * kLanes];
  for (int p = 0; p < parts; ++p) {
    float* sums = p == 0 ? out : part_sums;
    const Range at = range_of(w, p);
    std::memset(sums, 0, static_cast<std::size_t>(numbers) * sizeof(float));
    by_panels(w.encoding, strips, tiles, x, rows, at.begin, at.end, sums);
    for (std::int64_t n = 0; p > 0 && n < numbers; n += kLanes) {
      store(load(out + n) + load(sums + n), out + n);
    }
  }
}

}  // namespace manyspan::kernels::MANYSPAN_ISA
