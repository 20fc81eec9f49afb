#include "tensor/weight.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/check.h"
#include "tensor/bf16.h"
#include "tensor/blocks.h"
#include "tensor/e8m0.h"
#include "tensor/f16.h"
#include "tensor/fp4.h"
#include "tensor/fp8.h"

namespace manyspan {
namespace {

constexpr int kMostBlockBytes = 264, kMostBlockCols = 256;

// Rows and columns that share a scale of the plane beside the codes; 0: there are none.
struct ScaleGroup {
  int rows, cols;
};
constexpr ScaleGroup scale_group(Encoding e) {
  switch (e) {
    case Encoding::fp8_block32:
      return {32, 32};
    case Encoding::fp8_block128:
    case Encoding::fp8_block128_f32:
      return {128, 128};
    case Encoding::mxfp8:
    case Encoding::mxfp4:
      return {1, 32};
    case Encoding::nvfp4:
      return {1, 16};
    default:
      return {0, 0};
  }
}

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::array<float, 256> fp8_table() {
  std::array<float, 256> table;
  for (int code = 0; code < 256; ++code) table[code] = fp8_to_float(static_cast<std::uint8_t>(code));
  return table;
}

// The code number `index` of a run of codes; those of four bits are counted in nibbles.
float decode(Encoding encoding, const std::byte* codes, std::int64_t index) {
  static const std::array<float, 256> kFp8 = fp8_table();
  switch (code_bits(encoding)) {
    case 32:
      return load<float>(codes + 4 * index);
    case 16:
      if (encoding == Encoding::f16) return f16_to_float(load<std::uint16_t>(codes + 2 * index));
      return to_float(load<Bf16>(codes + 2 * index));
    case 8:
      return kFp8[load<std::uint8_t>(codes + index)];
    case 4: {
      const auto byte = load<std::uint8_t>(codes + index / 2);
      return fp4_to_float(index % 2 == 0 ? byte & 15u : byte >> 4u);
    }
  }
  CHECK(false, "a code of 4, 8, 16 or 32 bits");
}

// Scales of a tile: for rows 0-7 and 8-15, or for each row.
constexpr int scales_in_tile(Encoding e) {
  const int rows = scale_group(e).rows;
  return rows == 0 || e == Encoding::nvfp4 ? 0 : rows == 1 ? kTileRows : 2;
}

// Bytes of a scale.
constexpr int scale_width(Encoding e) { return e == Encoding::fp8_block128_f32 ? 4 : 1; }

// Where a row lies among the tiles.
struct TileRow {
  std::int64_t tile, r;
};
TileRow tile_row(const Weight& w, std::int64_t n) {
  if (w.order == RowOrder::natural) return {n / kTileRows, n % kTileRows};
  const std::int64_t half = w.rows / 2, in_half = n % half;
  return {in_half / 8, in_half % 8 + (n < half ? 0 : 8)};
}

struct Place {
  std::int64_t code, scale;
};

Place plain_place(const Weight& w, std::int64_t n, std::int64_t k) {
  const ScaleGroup group = scale_group(w.encoding);
  if (group.cols == 0) return {n * w.cols + k, 0};
  return {n * w.cols + k, n / group.rows * ((w.cols + group.cols - 1) / group.cols) + k / group.cols};
}

Place tiled_place(const Weight& w, std::int64_t n, std::int64_t k) {
  const auto [tile, r] = tile_row(w, n);
  const std::int64_t at = tile * tiles_across(w) + k / kTileCols, c = k % kTileCols;
  const std::int64_t in_tile =
      w.encoding == Encoding::mxfp4 ? 2 * (c / 2 * kTileRows + r) + c % 2 : c * kTileRows + r;
  return {at * kTileRows * kTileCols + in_tile,
          at * scales_in_tile(w.encoding) + r / (kTileRows / std::max(scales_in_tile(w.encoding), 1))};
}

Place place(const Weight& w, std::int64_t n, std::int64_t k) {
  return w.tiling == Tiling::plain ? plain_place(w, n, k) : tiled_place(w, n, k);
}

float scale(const Weight& w, std::int64_t at) {
  if (w.encoding == Encoding::fp8_block128_f32) return load<float>(w.scales + 4 * at);
  const auto code = load<std::uint8_t>(w.scales + at);
  return w.encoding == Encoding::nvfp4 ? fp8_to_float(code) : e8m0_to_float(code);
}

float factor(const Weight& w, std::int64_t n) {
  if (w.tiling == Tiling::plain) return load<float>(w.scales + factors_at(w) + 4 * n);
  const auto [tile, r] = tile_row(w, n);
  return load<float>(w.scales + 4 * (tile * kTileRows + r));
}

// Up to `count` columns of row n that lie in one block, from k on; how many they were.
std::int64_t in_block(const Weight& w, std::int64_t n, std::int64_t k, std::int64_t count, float* out) {
  const std::int64_t bytes = block_bytes(w.encoding), cols = block_cols(w.encoding);
  std::byte turned[kMostBlockBytes];
  const std::byte* block = w.codes + n * row_code_bytes(w) + k / cols * bytes;
  if (w.tiling == Tiling::cpu16x32) {
    const auto [tile, r] = tile_row(w, n);
    const std::byte* from = w.codes + tile * strip_code_bytes(w) + k / cols * bytes * kTileRows + r;
    for (std::int64_t j = 0; j < bytes; ++j) turned[j] = from[j * kTileRows];
    block = turned;
  }
  float all[kMostBlockCols];
  decode_block(w.encoding, block, all);
  const std::int64_t some = std::min(count, cols - k % cols);
  std::copy_n(all + k % cols, some, out);
  return some;
}

// Columns [k, k + count), count ≤ 32, that share a scale of mxfp8's or mxfp4's width, or have none.
void in_tile(const Weight& w, std::int64_t n, std::int64_t k, std::int64_t count, float* out) {
  const std::int64_t step = w.tiling == Tiling::plain ? 1 : kTileRows;
  const bool nibbles = code_bits(w.encoding) == 4;
  const Place at = place(w, n, k);
  for (std::int64_t c = 0; c < count; ++c) {
    out[c] = decode(w.encoding, w.codes, at.code + (nibbles ? c / 2 * 2 * step + c % 2 : c * step));
  }
  const int cols = scale_group(w.encoding).cols;
  for (std::int64_t c = 0; c < count && cols != 0; c += std::min(cols, kTileCols)) {
    const float by = scale(w, at.scale + c / cols);
    for (std::int64_t i = c; i < std::min(count, c + cols); ++i) out[i] *= by;
  }
}

}  // namespace

std::int64_t code_bytes(const Weight& w) {
  if (w.tiling == Tiling::cpu16x32) return tiles_down(w) * strip_code_bytes(w);
  return w.rows * row_code_bytes(w);
}

std::int64_t factors_at(const Weight& w) {
  if (w.encoding != Encoding::nvfp4) return 0;
  return (w.rows * ((std::int64_t{w.cols} + 15) / 16) + 3) / 4 * 4;
}

std::int64_t scale_bytes(const Weight& w) {
  if (w.tiling == Tiling::cpu16x32) {
    if (has_factors(w.encoding)) return tiles_down(w) * kTileRows * 4;
    return tiles_down(w) * tiles_across(w) * tile_scale_bytes(w.encoding);
  }
  if (has_factors(w.encoding)) return factors_at(w) + std::int64_t{w.rows} * 4;
  const ScaleGroup group = scale_group(w.encoding);
  if (group.cols == 0) return 0;
  return scale_width(w.encoding) * ((std::int64_t{w.rows} + group.rows - 1) / group.rows) *
         ((std::int64_t{w.cols} + group.cols - 1) / group.cols);
}

Weight lone_row(Encoding encoding, std::int32_t cols, const std::byte* at) {
  Weight w{};
  w.codes = at;
  w.rows = 1, w.cols = cols;
  w.encoding = encoding;
  CHECK(scale_group(encoding).rows <= 1, "a row with scales of its own");
  if (at != nullptr && scale_bytes(w) > 0) w.scales = at + code_bytes(w);
  return w;
}

std::int64_t lone_row_bytes(Encoding encoding, std::int32_t cols) {
  const Weight w = lone_row(encoding, cols, nullptr);
  return code_bytes(w) + scale_bytes(w);
}

float value(const Weight& w, std::int64_t n, std::int64_t k) {
  CHECK(k >= 0 && k < w.cols, "no such element");
  float some[kTileCols];
  const std::int64_t first = k / kTileCols * kTileCols;
  values(w, n, first, std::min<std::int64_t>(kTileCols, w.cols - first), some);
  return some[k - first];
}

void values(const Weight& w, std::int64_t n, std::int64_t k, std::int64_t count, float* out) {
  CHECK(n >= 0 && n < w.rows && k >= 0 && k % kTileCols == 0 && count >= 0 && count <= w.cols - k,
        "no such columns");
  for (std::int64_t done = 0; done < count;) {
    if (is_blocks(w.encoding)) {
      done += in_block(w, n, k + done, count - done, out + done);
    } else {
      const std::int64_t some = std::min<std::int64_t>(kTileCols, count - done);
      in_tile(w, n, k + done, some, out + done);
      done += some;
    }
  }
  if (!has_factors(w.encoding)) return;
  const float by = factor(w, n);
  for (std::int64_t c = 0; c < count; ++c) out[c] *= by;
}

}  // namespace manyspan
