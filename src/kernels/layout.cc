#include "kernels/layout.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/check.h"
#include "kernels/layout_source_impl.h"

namespace manyspan::kernels {
namespace {

// Which logical row lies in row r of a tile; past the matrix when there is none.
std::int64_t logical_row(const Weight& to, std::int64_t tile, std::int64_t r) {
  if (to.order == RowOrder::natural) return tile * kTileRows + r;
  return r < 8 ? tile * 8 + r : to.rows / 2 + tile * 8 + r - 8;
}

// Lanes of two vectors in turn: of their first halves, or of their second.
template <bool kSecond, class Vector, int... I>
Vector zip(Vector a, Vector b, std::integer_sequence<int, I...>) {
  constexpr int kLanes = sizeof...(I), kFrom = kSecond ? kLanes / 2 : 0;
  return __builtin_shufflevector(a, b, (kFrom + I / 2 + I % 2 * kLanes)...);
}

// Sixteen bytes of each of the rows at once: squares of cells are turned by zipping their halves, over and over.
template <class Cell>
void turn(const std::byte* const* rows, std::int64_t at, std::byte* out) {
  typedef Cell Vector __attribute__((vector_size(16)));
  constexpr int kSide = 16 / static_cast<int>(sizeof(Cell));
  constexpr auto kLanes = std::make_integer_sequence<int, kSide>();
  for (int square = 0; square < kTileRows / kSide; ++square) {
    Vector v[kSide] = {};
    for (int r = 0; r < kSide; ++r) {
      const std::byte* const row = rows[square * kSide + r];
      if (row != nullptr) std::memcpy(&v[r], row + at, 16);
    }
    for (int done = 1; done < kSide; done *= 2) {
      Vector w[kSide];
      for (int i = 0; i < kSide / 2; ++i) {
        w[2 * i] = zip<false>(v[i], v[i + kSide / 2], kLanes);
        w[2 * i + 1] = zip<true>(v[i], v[i + kSide / 2], kLanes);
      }
      std::copy(w, w + kSide, v);
    }
    for (int c = 0; c < kSide; ++c) std::memcpy(out + (c * (kTileRows / kSide) + square) * 16, &v[c], 16);
  }
}

// Sixteen rows' bytes, cell by cell: a code, or a byte where codes are smaller or lie in blocks. A null row, and
// what lies past a row's end, is zero.
template <class Cell>
void interleave(const std::byte* const* rows, std::int64_t bytes, std::int64_t cells, std::byte* out) {
  constexpr auto kCell = static_cast<std::int64_t>(sizeof(Cell));
  const std::int64_t there = bytes / kCell, in_squares = bytes / 16 * 16 / kCell;
  for (std::int64_t c = 0; c < in_squares; c += 16 / kCell)
    turn<Cell>(rows, c * kCell, out + c * kCell * kTileRows);
  for (std::int64_t c = in_squares; c < cells; ++c) {
    Cell line[kTileRows] = {};
    if (c < there) {
      for (int r = 0; r < kTileRows; ++r) {
        if (rows[r] != nullptr) std::memcpy(line + r, rows[r] + c * kCell, sizeof(Cell));
      }
    }
    std::memcpy(out + c * kCell * kTileRows, line, sizeof line);
  }
}

void interleave(Encoding e, const std::byte* const* rows, std::int64_t bytes, std::int64_t strip,
                std::byte* out) {
  switch (code_bits(e)) {
    case 32:
      return interleave<std::uint32_t>(rows, bytes, strip / kTileRows / 4, out);
    case 16:
      return interleave<std::uint16_t>(rows, bytes, strip / kTileRows / 2, out);
    default:
      return interleave<std::uint8_t>(rows, bytes, strip / kTileRows, out);
  }
}

void tile_codes(const Source& from, const Weight& to, std::byte* codes) {
  const std::int64_t bytes = row_code_bytes(to), strip = strip_code_bytes(to);
  const bool same = same_codes(from.first.encoding, to.encoding);
  std::vector<std::byte> turned(static_cast<std::size_t>(same ? 0 : bytes * kTileRows));
  for (std::int64_t tile = 0; tile < tiles_down(to); ++tile, codes += strip) {
    const std::byte* rows[kTileRows] = {};
    for (std::int64_t r = 0; r < kTileRows; ++r) {
      const std::int64_t n = logical_row(to, tile, r);
      if (n >= to.rows) continue;
      if (!same) from.codes(n, to.encoding, turned.data() + r * bytes);
      rows[r] = same ? from.row(n) : turned.data() + r * bytes;
    }
    interleave(to.encoding, rows, bytes, strip, codes);
  }
}

// What the sixteen rows of a tile have for scales at 32 columns from 32·group on.
void tile_scales(const Source& from, const Weight& to, std::byte* scales) {
  const bool wide = to.encoding == Encoding::fp8_block128_f32;
  const std::int64_t in_tile = tile_scale_bytes(to.encoding) / (wide ? 4 : 1);
  for (std::int64_t tile = 0; tile < tiles_down(to); ++tile) {
    for (std::int64_t g = 0; g < tiles_across(to); ++g) {
      for (std::int64_t s = 0; s < in_tile; ++s) {
        const std::int64_t n = logical_row(to, tile, s * (kTileRows / in_tile));
        if (wide) {
          const float scale = n < to.rows ? from.wide_scale(n, g / 4) : 0;
          std::memcpy(scales, &scale, 4);
          scales += 4;
        } else {
          *scales++ = n < to.rows ? from.scale(n, g) : std::byte{0};
        }
      }
    }
  }
}

void tile_factors(const Source& from, const Weight& to, std::byte* scales) {
  for (std::int64_t place = 0; place < tiles_down(to) * kTileRows; ++place, scales += 4) {
    const std::int64_t n = logical_row(to, place / kTileRows, place % kTileRows);
    const float factor = n < to.rows ? from.factor(n) : 0;
    std::memcpy(scales, &factor, 4);
  }
}

void plain_scales(const Source& from, const Weight& to, std::byte* scales) {
  const std::int64_t groups = (to.cols + 31) / 32;
  const auto all = [&](std::int64_t step, std::int64_t across, auto&& put) {
    for (std::int64_t n = 0; n < to.rows; n += step) {
      for (std::int64_t g = 0; g < across; ++g) put(n, g);
    }
  };
  switch (to.encoding) {
    case Encoding::fp8_block32:
    case Encoding::mxfp8:
    case Encoding::mxfp4:
      return all(to.encoding == Encoding::fp8_block32 ? 32 : 1, groups,
                 [&](std::int64_t n, std::int64_t g) { *scales++ = from.scale(n, g); });
    case Encoding::fp8_block128_f32:
      return all(128, (to.cols + 127) / 128, [&](std::int64_t n, std::int64_t g) {
        const float scale = from.wide_scale(n, g);
        std::memcpy(scales, &scale, 4);
        scales += 4;
      });
    case Encoding::nvfp4:
      std::memset(scales, 0, static_cast<std::size_t>(factors_at(to)));
      for (std::int64_t n = 0, across = to.cols / 16; n < to.rows; ++n) {
        const Source::At at = from.at(n);
        std::memcpy(scales + n * across, at.w.scales + at.row * across, static_cast<std::size_t>(across));
      }
      break;
    default:
      break;
  }
  if (!has_factors(to.encoding)) return;
  for (std::int64_t n = 0; n < to.rows; ++n) {
    const float factor = from.factor(n);
    std::memcpy(scales + factors_at(to) + 4 * n, &factor, 4);
  }
}

void fill(const Source& from, const Weight& to, std::byte* codes, std::byte* scales) {
  if (to.tiling == Tiling::plain) {
    for (std::int64_t n = 0, bytes = row_code_bytes(to); n < to.rows; ++n)
      from.codes(n, to.encoding, codes + n * bytes);
    return plain_scales(from, to, scales);
  }
  tile_codes(from, to, codes);
  if (has_factors(to.encoding)) return tile_factors(from, to, scales);
  if (tile_scale_bytes(to.encoding) > 0) tile_scales(from, to, scales);
}

Weight shape(const Weight& from, std::int32_t rows, Tiling tiling, RowOrder order) {
  CHECK(from.tiling == Tiling::plain && from.order == RowOrder::natural, "what is rewritten is plain");
  CHECK(from.encoding != Encoding::mxfp4 || from.cols % 32 == 0, "mxfp4 rows are whole groups of 32");
  CHECK(from.encoding != Encoding::nvfp4 || from.cols % 16 == 0, "nvfp4 rows are whole groups of 16");
  CHECK(order == RowOrder::natural || (tiling == Tiling::cpu16x32 && rows % 16 == 0),
        "paired8 pairs whole eights, in tiles");
  Weight to = {};
  to.rows = rows;
  to.cols = from.cols;
  to.encoding = kernel_encoding(from.encoding, tiling);
  to.tiling = tiling;
  to.order = order;
  return to;
}

}  // namespace

Encoding kernel_encoding(Encoding from, Tiling tiling) {
  if (from == Encoding::fp8_block128) return Encoding::fp8_block32;
  if (tiling == Tiling::plain) return from;
  switch (from) {
    case Encoding::nvfp4:
      return Encoding::nvfp4_ggml;
    case Encoding::mxfp4_ggml:
      return Encoding::mxfp4;
    case Encoding::fp8_b128:
    case Encoding::mxfp8_b256:
    case Encoding::row264:
      return Encoding::mxfp8;
    default:
      return from;
  }
}

Weight arranged(const Weight& from, Tiling tiling, RowOrder order) {
  return shape(from, from.rows, tiling, order);
}

Weight arranged_pair(const Weight& first, Tiling tiling, RowOrder order) {
  Weight to = shape(first, 2 * first.rows, tiling, order);
  CHECK(to.encoding != Encoding::fp8_block32 || first.rows % 32 == 0,
        "halves with block scales are whole blocks");
  if (to.encoding == Encoding::fp8_block128_f32) {
    if (tiling == Tiling::plain && first.rows % 128 != 0) to.encoding = Encoding::f32;
    CHECK(tiling == Tiling::plain || first.rows % 8 == 0, "halves with block scales are whole eights");
  }
  return to;
}

std::int64_t arranged_code_bytes(const Weight& to) { return code_bytes(to); }
std::int64_t arranged_scale_bytes(const Weight& to) { return scale_bytes(to); }

void arrange(const Weight& from, const Weight& to, std::byte* codes, std::byte* scales, std::int64_t first) {
  CHECK(first >= 0 && first + to.rows <= from.rows && from.cols == to.cols,
        "arranged() described the destination");
  fill({from, nullptr, first}, to, codes, scales);
}

void arrange_pair(const Weight& first, const Weight& second, const Weight& to, std::byte* codes,
                  std::byte* scales) {
  CHECK(first.rows == second.rows && first.cols == second.cols && first.encoding == second.encoding,
        "two halves of one shape");
  CHECK(to.rows == 2 * first.rows && to.cols == first.cols, "arranged_pair() described the destination");
  fill({first, &second}, to, codes, scales);
}

}  // namespace manyspan::kernels
