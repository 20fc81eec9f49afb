// Weight — a matrix, or a row of equal matrices (experts), as it lies in memory for a kernel to read.
//
// Plain data: borrowed bytes and how to find a number in them. It is copied into parameter structs.
//
// Tiling plain      row-major codes; scales as the encoding says.
// Tiling cpu16x32   tiles of 16 rows x 32 columns, row of tiles by row of tiles; element (r, k) of a tile is
//                   code k·16 + r, so that one load serves 16 rows. mxfp4: byte (k/2)·16 + r, even k low.
//                   Scales: 2 a tile for fp8_block32 (rows 0-7, rows 8-15), 16 a tile for mxfp8 and mxfp4.
//                   Rows and columns past the matrix are zero codes.
// RowOrder paired8  rows 0-7 of a tile are rows 8t.. of the first half of the matrix (w1), rows 8-15 the same
//                   rows of the second half (w3). Only with cpu16x32; both halves a multiple of 8 rows.
// Requires   encodings here are f32, bf16, fp8_block32, mxfp8, mxfp4; others are rewritten at load
// Spec       interfaces.md A4
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/encoding.h"

namespace manyspan {

enum class Tiling : std::uint8_t { plain, cpu16x32 };
enum class RowOrder : std::uint8_t { natural, paired8 };

struct Weight {
  const std::byte* codes;
  const std::byte* scales;      // null where the encoding has none
  std::int32_t rows, cols;      // logical, without padding
  std::int64_t next_codes = 0;  // bytes from one matrix of the row to the next; 0: there is one
  std::int64_t next_scales = 0;
  Encoding encoding;
  Tiling tiling = Tiling::plain;
  RowOrder order = RowOrder::natural;
};

inline constexpr int kTileRows = 16, kTileCols = 32;

constexpr std::int64_t tiles_down(const Weight& w) { return (w.rows + kTileRows - 1) / kTileRows; }
constexpr std::int64_t tiles_across(const Weight& w) { return (w.cols + kTileCols - 1) / kTileCols; }

// Bytes of one tile's codes and scales.
constexpr std::int64_t tile_code_bytes(Encoding e) { return kTileRows * kTileCols * code_bits(e) / 8; }
constexpr std::int64_t tile_scale_bytes(Encoding e) {
  return e == Encoding::fp8_block32 ? 2 : e == Encoding::mxfp8 || e == Encoding::mxfp4 ? kTileRows : 0;
}

// Bytes that one matrix of this shape takes, padding counted.
std::int64_t code_bytes(const Weight& w);
std::int64_t scale_bytes(const Weight& w);

// The e-th matrix of a row of them.
inline Weight nth(Weight w, std::int64_t e) {
  w.codes += e * w.next_codes;
  if (w.scales != nullptr) w.scales += e * w.next_scales;
  return w;
}

// Logical row n, column k, decoded exactly. Slow, any tiling: the reference reads through this, and so
// every test of an operation also tests how its weights were arranged.
float value(const Weight& w, std::int64_t n, std::int64_t k);

// The same for `count` columns from `k` on, a multiple of 32, at a tolerable speed.
void values(const Weight& w, std::int64_t n, std::int64_t k, std::int64_t count, float* out);

}  // namespace manyspan
