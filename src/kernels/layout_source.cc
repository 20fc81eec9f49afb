#include <cstring>

#include "base/check.h"
#include "kernels/layout_source_impl.h"

namespace manyspan::kernels {
namespace {

std::byte nibbles(unsigned low, unsigned high) { return static_cast<std::byte>(low | high << 4); }
unsigned nibble(std::byte b, bool high) { return std::to_integer<unsigned>(b) >> (high ? 4 : 0) & 15u; }

// Neighbours in a byte instead of columns 16 apart, which is how a block of mxfp4_ggml has them.
void mxfp4_codes(const std::byte* blocks, std::int64_t cols, std::byte* out) {
  for (std::int64_t k = 0; k < cols; k += 32, blocks += 17) {
    for (int e = 0; e < 32; e += 2) {
      const std::byte* at = blocks + 1 + e % 16;
      *out++ = nibbles(nibble(at[0], e >= 16), nibble(at[1], e >= 16));
    }
  }
}

// Codes without the scales that lie among them. The last block's may be more than the row has.
void e4m3_codes(const std::byte* blocks, Encoding e, std::int64_t cols, std::byte* out) {
  const int block = block_cols(e), bytes = block_bytes(e);
  const int skipped = e == Encoding::fp8_b128 ? 1 : e == Encoding::mxfp8_b256 ? 8 : 0;
  for (std::int64_t k = 0; k < cols; k += block, blocks += bytes) {
    std::memcpy(out + k, blocks + skipped, static_cast<std::size_t>(cols - k < block ? cols - k : block));
  }
}

// Blocks of four groups of sixteen. A block's scale has no sign, so that of a plane goes to the codes.
void nvfp4_blocks(const std::byte* codes, const std::byte* scales, std::int64_t cols, std::byte* out) {
  constexpr int kBlock = 64, kBytes = 36;
  std::memset(out, 0, static_cast<std::size_t>((cols + kBlock - 1) / kBlock * kBytes));
  for (std::int64_t g = 0; g < cols / 16; ++g) {
    std::byte* block = out + g / 4 * kBytes;
    const auto scale = std::to_integer<unsigned>(scales[g]);
    block[g % 4] = static_cast<std::byte>(scale & 0x7f);
    const unsigned sign = scale >> 7 << 3;
    for (int i = 0; i < 8; ++i) {
      const std::byte *low = codes + g * 8 + i / 2, *high = low + 4;
      block[4 + g % 4 * 8 + i] = nibbles(nibble(*low, i % 2 != 0) ^ sign, nibble(*high, i % 2 != 0) ^ sign);
    }
  }
}

void f32_codes(const Weight& w, std::int64_t row, std::byte* out) {
  for (std::int64_t k = 0; k < w.cols; k += kTileCols) {
    const std::int64_t some = w.cols - k < kTileCols ? w.cols - k : kTileCols;
    float x[kTileCols];
    values(w, row, k, some, x);
    std::memcpy(out + 4 * k, x, static_cast<std::size_t>(some) * 4);
  }
}

}  // namespace

void Source::codes(std::int64_t n, Encoding to, std::byte* out) const {
  const auto [w, row_in] = at(n);
  if (same_codes(w.encoding, to)) {
    std::memcpy(out, row(n), static_cast<std::size_t>(row_code_bytes(w)));
  } else if (to == Encoding::mxfp4) {
    mxfp4_codes(row(n), w.cols, out);
  } else if (to == Encoding::mxfp8) {
    e4m3_codes(row(n), w.encoding, w.cols, out);
  } else if (to == Encoding::nvfp4_ggml) {
    nvfp4_blocks(row(n), w.scales + row_in * (w.cols / 16), w.cols, out);
  } else {
    CHECK(to == Encoding::f32, "a way from one encoding to the other");
    f32_codes(w, row_in, out);
  }
}

std::byte Source::scale(std::int64_t n, std::int64_t group) const {
  const auto [w, r] = at(n);
  const std::int64_t groups = (w.cols + 31) / 32;
  switch (w.encoding) {
    case Encoding::fp8_block32:
      return w.scales[r / 32 * groups + group];
    case Encoding::fp8_block128:
      return w.scales[r / 128 * ((w.cols + 127) / 128) + group / 4];
    case Encoding::mxfp8:
    case Encoding::mxfp4:
      return w.scales[r * groups + group];
    case Encoding::mxfp4_ggml:
      return row(n)[group * 17];
    case Encoding::fp8_b128:
      return row(n)[group / 4 * 129];
    case Encoding::mxfp8_b256:
      return row(n)[group / 8 * 264 + group % 8];
    case Encoding::row264:
      return row(n)[group / 8 * 264 + 256 + group % 8];
    default:
      CHECK(false, "an encoding with E8M0 scales");
  }
}

float Source::wide_scale(std::int64_t n, std::int64_t group) const {
  const auto [w, r] = at(n);
  float scale;
  std::memcpy(&scale, w.scales + 4 * (r / 128 * ((w.cols + 127) / 128) + group), 4);
  return scale;
}

float Source::factor(std::int64_t n) const {
  const auto [w, r] = at(n);
  float factor;
  std::memcpy(&factor, w.scales + factors_at(w) + 4 * r, 4);
  return factor;
}

}  // namespace manyspan::kernels
