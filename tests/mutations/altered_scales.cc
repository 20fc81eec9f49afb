#include "tests/mutations/altered_scales.h"

namespace manyspan::test {
namespace {

// Rows that share one scale grid: all, or with w1 stacked on w3 each half.
std::int64_t grid_rows(const Weight& w, bool stacked) { return stacked ? w.rows / 2 : w.rows; }

// Where the scale of logical row n, group k lies: in the weight's own plane, and in one with a scale a row.
std::int64_t own_place(const Weight& w, std::int64_t n, std::int64_t k) {
  const std::int64_t across = (w.cols + 31) / 32;
  if (w.tiling == Tiling::plain) return n / 32 * across + k;
  std::int64_t tile = n / kTileRows, half = n % kTileRows / 8;
  if (w.order == RowOrder::paired8) {
    const std::int64_t rows = w.rows / 2;
    tile = n % rows / 8;
    half = n < rows ? 0 : 1;
  }
  return (tile * across + k) * 2 + half;
}

std::int64_t row_place(const Weight& w, std::int64_t n, std::int64_t k) {
  const std::int64_t across = (w.cols + 31) / 32;
  if (w.tiling == Tiling::plain) return n * across + k;
  std::int64_t tile = n / kTileRows, r = n % kTileRows;
  if (w.order == RowOrder::paired8) {
    const std::int64_t rows = w.rows / 2;
    tile = n % rows / 8;
    r = n % rows % 8 + (n < rows ? 0 : 8);
  }
  return (tile * across + k) * kTileRows + r;
}

std::vector<std::byte> altered(Weight& w, bool stacked, const ScaleReading& reading) {
  const std::int64_t rows = grid_rows(w, stacked), down = (rows + 31) / 32, across = (w.cols + 31) / 32;
  Weight to = w;
  to.encoding = Encoding::mxfp8;
  std::vector<std::byte> scales(scale_bytes(to));
  for (std::int64_t first = 0; first < w.rows; first += rows) {
    std::vector<std::byte> grid(down * across);
    for (std::int64_t g = 0; g < down * across; ++g)
      grid[g] = w.scales[own_place(w, first + g / across * 32, g % across)];
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t k = 0; k < across; ++k)
        scales[row_place(w, first + r, k)] = grid[reading(r, k, down, across)];
    }
  }
  w.encoding = Encoding::mxfp8;
  w.scales = scales.data();
  return scales;
}

}  // namespace

std::int64_t read_rightly(std::int64_t r, std::int64_t k, std::int64_t, std::int64_t across) {
  return r / 32 * across + k;
}
std::int64_t read_transposed(std::int64_t r, std::int64_t k, std::int64_t down, std::int64_t) {
  return k * down + r / 32;
}
std::int64_t read_row_wise(std::int64_t r, std::int64_t k, std::int64_t down, std::int64_t across) {
  return (r * across + k) % (down * across);
}

std::vector<std::vector<std::byte>> alter_fp8_scales(Prepared& prepared, const ScaleReading& reading) {
  std::vector<std::vector<std::byte>> kept;
  const auto alter = [&](Weight& w, bool stacked = false) {
    if (w.codes != nullptr && w.encoding == Encoding::fp8_block32)
      kept.push_back(altered(w, stacked, reading));
  };
  for (PreparedLayer& l : prepared.layers) {
    for (Weight* w : {&l.wq_a, &l.wq_b, &l.wkv, &l.wo_b, &l.index_q, &l.shared_down, &l.engram_kv}) alter(*w);
    for (Weight& w : l.wo_a) alter(w);
    alter(l.shared_gate_up, true);
  }
  return kept;
}

}  // namespace manyspan::test
