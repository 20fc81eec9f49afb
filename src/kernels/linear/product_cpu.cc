#include "kernels/linear/linear.h"
#include "kernels/linear/product_ways.h"
#include "kernels/simd_product.h"

namespace manyspan::kernels::MANYSPAN_ISA {
namespace {

constexpr std::int64_t kPanelTiles = 4;  // along K: 128 columns of two tiles are 16 KB of f32
constexpr std::int64_t kFewRows = 2;     // up to so many, weights go from memory to registers without a panel
constexpr int kMostParts = 8;

MANYSPAN_INLINE Strip strip(const Weight& w, std::int64_t tile) {
  const std::int64_t scales =
      has_factors(w.encoding) ? kTileRows * 4 : tiles_across(w) * tile_scale_bytes(w.encoding);
  return {w.codes + tile * strip_code_bytes(w), w.scales == nullptr ? nullptr : w.scales + tile * scales};
}

// Tiles [begin, end) of each strip, one by one into a panel, then times all rows.
void by_panels(const Ways& ways, const Strip* strips, int tiles, const float* const* x, std::int64_t rows,
               std::int64_t begin, std::int64_t end, float* sums) {
  alignas(64) float panel[kPanelTiles * kTileRows * kTileCols];
  const float* at[kMostRows] = {};
  for (std::int64_t t = begin; t < end; t += kPanelTiles) {
    const std::int64_t deep = end - t < kPanelTiles ? end - t : kPanelTiles;
    for (std::int64_t r = 0; r < rows; ++r) at[r] = x[r] + t * kTileCols;
    for (int i = 0; i < tiles; ++i) {
      for (std::int64_t d = 0; d < deep; ++d) {
        ways.decode(strips[i], t + d, panel + d * kTileRows * kTileCols);
      }
      add_products(rows, panel, kTileRows, at, 1, deep * kTileCols, sums + i * rows * kLanes);
    }
  }
}

struct Range {
  std::int64_t begin, end;  // tiles along K
};
MANYSPAN_INLINE Range range_of(const Weight& w, int part) {
  const bool last = part + 1 == reduction_parts(w.cols);
  return {part_begin(w.cols, part) / kTileCols,
          last ? tiles_across(w) : part_begin(w.cols, part + 1) / kTileCols};
}

// All parts of all strips, those of equal length side by side; out[(part·tiles + tile)·rows + row][16].
void few_rows_by_parts(const Weight& w, const Ways& ways, const Strip* strips, int tiles,
                       const float* const* x, std::int64_t rows, float* out) {
  Stretch stretches[kMostParts * kTilesAtOnce];
  const int parts = reduction_parts(w.cols);
  int waiting = 0;
  std::int64_t length = 0;
  const auto flush = [&] {
    ways.few_rows(stretches, waiting, length, x, rows, out);
    out += waiting * rows * kLanes;
    waiting = 0;
  };
  for (int p = 0; p < parts; ++p) {
    const Range at = range_of(w, p);
    if (waiting > 0 && at.end - at.begin != length) flush();
    length = at.end - at.begin;
    for (int i = 0; i < tiles; ++i) {
      stretches[waiting++] = {strips[i], at.begin, parts == 1 ? (tiles - 1) * strip_code_bytes(w) : 0};
    }
  }
  flush();
}

}  // namespace

void tile_products(const Weight& w, std::int64_t first, int tiles, const float* const* x, std::int64_t rows,
                   float* out) {
  const Ways ways = ways_of(w.encoding);
  const std::int64_t numbers = tiles * rows * kLanes;
  Strip strips[kTilesAtOnce] = {};
  for (int i = 0; i < tiles; ++i) strips[i] = strip(w, first + i);
  const int parts = reduction_parts(w.cols);
  if (rows <= kFewRows) {
    alignas(64) float sums[kMostParts * kTilesAtOnce * kFewRows * kLanes];
    few_rows_by_parts(w, ways, strips, tiles, x, rows, sums);
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
    by_panels(ways, strips, tiles, x, rows, at.begin, at.end, sums);
    for (std::int64_t n = 0; p > 0 && n < numbers; n += kLanes) {
      store(load(out + n) + load(sums + n), out + n);
    }
  }
}

}  // namespace manyspan::kernels::MANYSPAN_ISA
