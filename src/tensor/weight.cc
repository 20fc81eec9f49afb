#include "tensor/weight.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/check.h"
#include "tensor/bf16.h"
#include "tensor/e8m0.h"
#include "tensor/fp4.h"
#include "tensor/fp8.h"

namespace manyspan {
namespace {

bool has_scales(Encoding e) { return tile_scale_bytes(e) != 0; }

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// The code number `index` of a run of codes; mxfp4 counts nibbles.
float decode(Encoding encoding, const std::byte* codes, std::int64_t index) {
  switch (encoding) {
    case Encoding::f32:
      return load<float>(codes + 4 * index);
    case Encoding::bf16:
      return to_float(load<Bf16>(codes + 2 * index));
    case Encoding::fp8_block32:
    case Encoding::mxfp8:
      return fp8_to_float(load<std::uint8_t>(codes + index));
    case Encoding::mxfp4: {
      const auto byte = load<std::uint8_t>(codes + index / 2);
      return fp4_to_float(index % 2 == 0 ? byte & 15u : byte >> 4u);
    }
    case Encoding::f16:
    case Encoding::fp8_block128:
      break;
  }
  CHECK(false, "this encoding is rewritten at load and never reaches a kernel");
}

struct Place {
  std::int64_t code, scale;
};

Place plain_place(const Weight& w, std::int64_t n, std::int64_t k) {
  const std::int64_t groups = (w.cols + 31) / 32;
  return {n * w.cols + k, (w.encoding == Encoding::fp8_block32 ? n / 32 : n) * groups + k / 32};
}

Place tiled_place(const Weight& w, std::int64_t n, std::int64_t k) {
  std::int64_t tile = n / kTileRows, r = n % kTileRows;
  if (w.order == RowOrder::paired8) {
    const std::int64_t half = w.rows / 2, in_half = n % half;
    tile = in_half / 8;
    r = in_half % 8 + (n < half ? 0 : 8);
  }
  const std::int64_t at = tile * tiles_across(w) + k / kTileCols, c = k % kTileCols;
  const std::int64_t in_tile =
      w.encoding == Encoding::mxfp4 ? 2 * (c / 2 * kTileRows + r) + c % 2 : c * kTileRows + r;
  return {at * kTileRows * kTileCols + in_tile,
          at * tile_scale_bytes(w.encoding) + (w.encoding == Encoding::fp8_block32 ? r / 8 : r)};
}

Place place(const Weight& w, std::int64_t n, std::int64_t k) {
  return w.tiling == Tiling::plain ? plain_place(w, n, k) : tiled_place(w, n, k);
}

std::array<float, 256> fp8_table() {
  std::array<float, 256> table;
  for (int code = 0; code < 256; ++code) table[code] = fp8_to_float(static_cast<std::uint8_t>(code));
  return table;
}

}  // namespace

std::int64_t code_bytes(const Weight& w) {
  if (w.tiling == Tiling::cpu16x32) return tiles_down(w) * tiles_across(w) * tile_code_bytes(w.encoding);
  return static_cast<std::int64_t>(w.rows) *
         ((static_cast<std::int64_t>(w.cols) * code_bits(w.encoding) + 7) / 8);
}

std::int64_t scale_bytes(const Weight& w) {
  if (!has_scales(w.encoding)) return 0;
  if (w.tiling == Tiling::cpu16x32) return tiles_down(w) * tiles_across(w) * tile_scale_bytes(w.encoding);
  const std::int64_t down = w.encoding == Encoding::fp8_block32 ? (w.rows + 31) / 32 : w.rows;
  return down * ((w.cols + 31) / 32);
}

float value(const Weight& w, std::int64_t n, std::int64_t k) {
  CHECK(n >= 0 && n < w.rows && k >= 0 && k < w.cols, "no such element");
  const Place at = place(w, n, k);
  const float code = decode(w.encoding, w.codes, at.code);
  return has_scales(w.encoding) ? code * e8m0_to_float(load<std::uint8_t>(w.scales + at.scale)) : code;
}

void values(const Weight& w, std::int64_t n, std::int64_t k, std::int64_t count, float* out) {
  CHECK(n >= 0 && n < w.rows && k >= 0 && k % 32 == 0 && count >= 0 && count <= w.cols - k,
        "no such columns");
  static const std::array<float, 256> kFp8 = fp8_table();
  const std::int64_t step = w.tiling == Tiling::plain ? 1 : kTileRows;
  for (std::int64_t begin = 0; begin < count; begin += 32, out += 32) {
    const Place at = place(w, n, k + begin);
    const std::int64_t columns = std::min<std::int64_t>(32, count - begin);
    if (w.encoding == Encoding::mxfp4) {
      for (std::int64_t c = 0; c < columns; ++c) {
        out[c] = decode(w.encoding, w.codes, at.code + c / 2 * 2 * step + c % 2);
      }
    } else if (has_scales(w.encoding)) {
      for (std::int64_t c = 0; c < columns; ++c) {
        out[c] = kFp8[load<std::uint8_t>(w.codes + at.code + c * step)];
      }
    } else {
      for (std::int64_t c = 0; c < columns; ++c) out[c] = decode(w.encoding, w.codes, at.code + c * step);
    }
    if (!has_scales(w.encoding)) continue;
    const float scale = e8m0_to_float(load<std::uint8_t>(w.scales + at.scale));
    for (std::int64_t c = 0; c < columns; ++c) out[c] *= scale;
  }
}

}  // namespace manyspan
