#include "kernels/linear/linear.h"
#include "kernels/simd_product.h"

namespace manyspan::kernels::MANYSPAN_ISA {
namespace {

constexpr std::int64_t kPanelTiles = 4;  // along K: 128 columns of two tiles are 16 KB of f32

struct Strip {
  const std::byte* codes;
  const std::byte* scales;
};

MANYSPAN_INLINE Strip strip(const Weight& w, std::int64_t tile) {
  const std::int64_t at = tile * tiles_across(w);
  return {w.codes + at * tile_code_bytes(w.encoding), w.scales + at * tile_scale_bytes(w.encoding)};
}

}  // namespace

void tile_products(const Weight& w, std::int64_t first, int tiles, const float* const* x, std::int64_t rows,
                   float* out) {
  alignas(64) float panel[kTilesAtOnce][kPanelTiles * kTileRows * kTileCols];
  alignas(64) float part_sums[kTilesAtOnce * kMostRows * kLanes];
  const std::int64_t numbers = tiles * rows * kLanes, across = tiles_across(w);
  const int parts = reduction_parts(w.cols);
  for (int p = 0; p < parts; ++p) {
    float* sums = p == 0 ? out : part_sums;
    std::memset(sums, 0, static_cast<std::size_t>(numbers) * sizeof(float));
    const std::int64_t begin = part_begin(w.cols, p) / kTileCols;
    const std::int64_t end = p + 1 == parts ? across : part_begin(w.cols, p + 1) / kTileCols;
    for (std::int64_t t = begin; t < end; t += kPanelTiles) {
      const std::int64_t deep = end - t < kPanelTiles ? end - t : kPanelTiles;
      for (int i = 0; i < tiles; ++i) {
        const Strip s = strip(w, first + i);
        for (std::int64_t d = 0; d < deep; ++d) {
          decode_tile(w.encoding, s.codes + (t + d) * tile_code_bytes(w.encoding),
                      s.scales + (t + d) * tile_scale_bytes(w.encoding),
                      panel[i] + d * kTileRows * kTileCols);
        }
      }
      const float* at[kMostRows] = {};
      for (std::int64_t r = 0; r < rows; ++r) at[r] = x[r] + t * kTileCols;
      for (int i = 0; i < tiles; ++i) {
        add_products(rows, panel[i], kTileRows, at, 1, deep * kTileCols, sums + i * rows * kLanes);
      }
    }
    if (p > 0) {
      for (std::int64_t n = 0; n < numbers; n += kLanes) store(load(out + n) + load(sums + n), out + n);
    }
  }
}

}  // namespace manyspan::kernels::MANYSPAN_ISA
