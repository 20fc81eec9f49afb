#include "kernels/layout.h"

#include <cstring>

#include "base/check.h"
#include "tensor/f16.h"

namespace manyspan::kernels {
namespace {

bool one_scale_a_row(Encoding e) { return e == Encoding::mxfp8 || e == Encoding::mxfp4; }
std::int64_t groups_of(const Weight& w) { return (w.cols + 31) / 32; }

// The matrix that is rewritten: one, or the first half of it and the second.
struct Source {
  const Weight& first;
  const Weight* second;

  std::int64_t row_bytes() const {
    return static_cast<std::int64_t>(first.cols) * code_bits(first.encoding) / 8;
  }
  const std::byte* row(std::int64_t n) const {
    const bool in_first = n < first.rows;
    return (in_first ? first.codes : second->codes) + (in_first ? n : n - first.rows) * row_bytes();
  }
  std::byte scale(std::int64_t n, std::int64_t group) const {
    const Weight& w = n < first.rows ? first : *second;
    const std::int64_t r = n < first.rows ? n : n - first.rows;
    if (w.encoding == Encoding::fp8_block128) return w.scales[r / 128 * ((w.cols + 127) / 128) + group / 4];
    return w.scales[(one_scale_a_row(w.encoding) ? r : r / 32) * groups_of(w) + group];
  }
};

// Which logical row lies in row r of a tile; past the matrix when there is none.
std::int64_t logical_row(const Weight& to, std::int64_t tile, std::int64_t r) {
  if (to.order == RowOrder::natural) return tile * kTileRows + r;
  return r < 8 ? tile * 8 + r : to.rows / 2 + tile * 8 + r - 8;
}

// Codes move as cells: one code, or a byte of two for mxfp4, which pairs the same columns in every tiling.
template <class Cell>
void tile_codes(const Source& from, const Weight& to, std::byte* codes) {
  const std::int64_t cells = from.row_bytes() / static_cast<std::int64_t>(sizeof(Cell));
  const std::int64_t across =
      tile_code_bytes(to.encoding) / kTileRows / static_cast<std::int64_t>(sizeof(Cell));
  for (std::int64_t tile = 0; tile < tiles_down(to); ++tile) {
    std::byte* band = codes + tile * tiles_across(to) * tile_code_bytes(to.encoding);
    for (std::int64_t r = 0; r < kTileRows; ++r) {
      const std::int64_t n = logical_row(to, tile, r);
      const std::byte* row = n < to.rows ? from.row(n) : nullptr;
      for (std::int64_t c = 0; c < tiles_across(to) * across; ++c) {
        Cell cell = 0;
        if (row != nullptr && c < cells) std::memcpy(&cell, row + c * sizeof(Cell), sizeof(Cell));
        std::memcpy(band + (c * kTileRows + r) * sizeof(Cell), &cell, sizeof(Cell));
      }
    }
  }
}

// f16 to f32, into either tiling.
void widen_codes(const Source& from, const Weight& to, std::byte* codes) {
  if (to.tiling == Tiling::cpu16x32) std::memset(codes, 0, static_cast<std::size_t>(arranged_code_bytes(to)));
  const std::int64_t rows_down = to.tiling == Tiling::plain ? to.rows : tiles_down(to) * kTileRows;
  for (std::int64_t place = 0; place < rows_down; ++place) {
    const std::int64_t tile = place / kTileRows, r = place % kTileRows;
    const std::int64_t n = to.tiling == Tiling::plain ? place : logical_row(to, tile, r);
    if (n >= to.rows) continue;
    for (std::int64_t k = 0; k < to.cols; ++k) {
      std::uint16_t half;
      std::memcpy(&half, from.row(n) + 2 * k, 2);
      const float wide = f16_to_float(half);
      const std::int64_t at = to.tiling == Tiling::plain
                                  ? n * to.cols + k
                                  : (tile * tiles_across(to) * kTileCols + k) * kTileRows + r;
      std::memcpy(codes + 4 * at, &wide, 4);
    }
  }
}

void fill_codes(const Source& from, const Weight& to, std::byte* codes) {
  if (from.first.encoding == Encoding::f16) return widen_codes(from, to, codes);
  if (to.tiling == Tiling::plain) {
    const std::int64_t half = from.first.rows * from.row_bytes();
    std::memcpy(codes, from.first.codes, static_cast<std::size_t>(half));
    if (from.second != nullptr) std::memcpy(codes + half, from.second->codes, static_cast<std::size_t>(half));
    return;
  }
  switch (code_bits(to.encoding)) {
    case 32:
      return tile_codes<std::uint32_t>(from, to, codes);
    case 16:
      return tile_codes<std::uint16_t>(from, to, codes);
    default:
      return tile_codes<std::uint8_t>(from, to, codes);
  }
}

void fill_scales(const Source& from, const Weight& to, std::byte* scales) {
  const std::int64_t groups = groups_of(to), in_tile = tile_scale_bytes(to.encoding);
  if (in_tile == 0) return;
  if (to.tiling == Tiling::plain) {
    const std::int64_t step = one_scale_a_row(to.encoding) ? 1 : 32;
    for (std::int64_t n = 0; n < to.rows; n += step) {
      for (std::int64_t g = 0; g < groups; ++g) *scales++ = from.scale(n, g);
    }
    return;
  }
  for (std::int64_t tile = 0; tile < tiles_down(to); ++tile) {
    for (std::int64_t g = 0; g < groups; ++g) {
      for (std::int64_t s = 0; s < in_tile; ++s) {
        const std::int64_t n = logical_row(to, tile, s * (kTileRows / in_tile));
        *scales++ = n < to.rows ? from.scale(n, g) : std::byte{0};
      }
    }
  }
}

Encoding kernel_encoding(Encoding e) {
  if (e == Encoding::f16) return Encoding::f32;
  return e == Encoding::fp8_block128 ? Encoding::fp8_block32 : e;
}

Weight shape(const Weight& from, std::int32_t rows, Tiling tiling, RowOrder order) {
  CHECK(from.tiling == Tiling::plain && from.order == RowOrder::natural, "what is rewritten is plain");
  CHECK(from.encoding != Encoding::mxfp4 || from.cols % 32 == 0, "mxfp4 rows are whole groups of 32");
  CHECK(order == RowOrder::natural || (tiling == Tiling::cpu16x32 && rows % 16 == 0),
        "paired8 pairs whole eights, in tiles");
  Weight to = {};
  to.rows = rows;
  to.cols = from.cols;
  to.encoding = kernel_encoding(from.encoding);
  to.tiling = tiling;
  to.order = order;
  return to;
}

void fill(const Source& from, const Weight& to, std::byte* codes, std::byte* scales) {
  fill_codes(from, to, codes);
  fill_scales(from, to, scales);
}

}  // namespace

Weight arranged(const Weight& from, Tiling tiling, RowOrder order) {
  return shape(from, from.rows, tiling, order);
}

Weight arranged_pair(const Weight& first, Tiling tiling, RowOrder order) {
  const bool blocks = kernel_encoding(first.encoding) == Encoding::fp8_block32;
  CHECK(!blocks || first.rows % 32 == 0, "halves with block scales are whole blocks");
  return shape(first, 2 * first.rows, tiling, order);
}

std::int64_t arranged_code_bytes(const Weight& to) { return code_bytes(to); }
std::int64_t arranged_scale_bytes(const Weight& to) { return scale_bytes(to); }

void arrange(const Weight& from, const Weight& to, std::byte* codes, std::byte* scales) {
  CHECK(from.rows == to.rows && from.cols == to.cols, "arranged() described the destination");
  fill({from, nullptr}, to, codes, scales);
}

void arrange_pair(const Weight& first, const Weight& second, const Weight& to, std::byte* codes,
                  std::byte* scales) {
  CHECK(first.rows == second.rows && first.cols == second.cols && first.encoding == second.encoding,
        "two halves of one shape");
  CHECK(to.rows == 2 * first.rows && to.cols == first.cols, "arranged_pair() described the destination");
  fill({first, &second}, to, codes, scales);
}

}  // namespace manyspan::kernels
