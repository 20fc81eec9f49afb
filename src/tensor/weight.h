// Weight — a matrix, or a row of equal matrices (experts), as it lies in memory for a kernel to read.
//
// Plain data: borrowed bytes and how to find a number in them. It is copied into parameter structs.
//
// Tiling plain      row-major codes, or rows of whole blocks; scales as the encoding says. The factors of nvfp4 and
//                   nvfp4_ggml, an F32 for each row, end the scales (of nvfp4 from a multiple of 4 bytes on).
// Tiling cpu16x32   tiles of 16 rows x 32 columns, row of tiles by row of tiles; element (r, k) of a tile is
//                   code k·16 + r, so that one load serves 16 rows. mxfp4: byte (k/2)·16 + r, even k low.
//                   Blocks: byte j of the sixteen rows' b-th blocks is byte (b·block_bytes + j)·16 + r.
//                   Scales: 2 a tile for fp8_block32 and fp8_block128_f32 (rows 0-7, rows 8-15), 16 a tile for mxfp8 and mxfp4; for
//                   nvfp4_ggml the 16 factors of each row of tiles.
//                   Rows and columns past the matrix are zero codes, or blocks of zeros.
// RowOrder paired8  rows 0-7 of a tile are rows 8t.. of the first half of the matrix (w1), rows 8-15 the same
//                   rows of the second half (w3). Only with cpu16x32; both halves a multiple of 8 rows.
// Requires   fp8_block128: E8M0 scales; E4M3 codes: scales whose product with 448 is a number in F32, as loading sees to;
//            cpu16x32: an encoding that arranged() of kernels/layout.h gives
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
constexpr std::int64_t blocks_across(const Weight& w) {
  return (w.cols + block_cols(w.encoding) - 1) / block_cols(w.encoding);
}

// Bytes of one tile's codes and scales; of blocks, codes on the average.
constexpr std::int64_t tile_code_bytes(Encoding e) {
  if (is_blocks(e)) return kTileRows * kTileCols * block_bytes(e) / block_cols(e);
  return kTileRows * kTileCols * code_bits(e) / 8;
}
constexpr std::int64_t tile_scale_bytes(Encoding e) {
  if (e == Encoding::fp8_block32) return 2;
  if (e == Encoding::fp8_block128_f32) return 8;
  return e == Encoding::mxfp8 || e == Encoding::mxfp4 ? kTileRows : 0;
}

// Bytes of the codes of one row of tiles.
constexpr std::int64_t strip_code_bytes(const Weight& w) {
  if (is_blocks(w.encoding)) return blocks_across(w) * block_bytes(w.encoding) * kTileRows;
  return tiles_across(w) * tile_code_bytes(w.encoding);
}

// Bytes of the codes of one row of a plain matrix.
constexpr std::int64_t row_code_bytes(const Weight& w) {
  if (is_blocks(w.encoding)) return blocks_across(w) * block_bytes(w.encoding);
  return (std::int64_t{w.cols} * code_bits(w.encoding) + 7) / 8;
}

// Whether each row has an F32 factor at the end of the scales.
constexpr bool has_factors(Encoding e) { return e == Encoding::nvfp4 || e == Encoding::nvfp4_ggml; }

// Bytes that one matrix of this shape takes, padding counted.
std::int64_t code_bytes(const Weight& w);
std::int64_t scale_bytes(const Weight& w);

// Where the factors of a plain matrix begin within its scales.
std::int64_t factors_at(const Weight& w);

// A row that travels alone: a plain matrix of one row, whose codes lie at `at` and its scales behind them.
// Requires an encoding whose scales no rows share.
Weight lone_row(Encoding encoding, std::int32_t cols, const std::byte* at);
std::int64_t lone_row_bytes(Encoding encoding, std::int32_t cols);

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
