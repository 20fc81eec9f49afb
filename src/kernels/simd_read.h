// simd_read — the weights of one tile, column by column: decoded on the way from packed bytes into registers.
//
// Reader<E> for each encoding E that lies in tiles (kernels/layout.h says which):
//   at(strip, t)   goes to tile t of a strip
//   half(h)        to its columns [16h, 16h + 16)
//   four(k)        sixteen rows of four columns from the k-th of these on, k a multiple of 4
//
// Numerics   every weight is what value() of tensor/weight.h says, but for the sign of a zero: products of an F16
//            and small whole numbers are exact, so that where such a product is subtracted it makes no difference
//            whether one rounding or two are made
#pragma once

#include "kernels/simd_bytes.h"
#include "kernels/simd_grid.h"
#include "tensor/weight.h"

namespace manyspan::kernels::MANYSPAN_ISA {

// Sixteen rows of a matrix, from the first of their tiles or blocks on.
struct Strip {
  const std::byte* codes;
  const std::byte* scales;
};

struct Four {
  F column[4];
};

template <Encoding E>
struct Reader;

struct ReaderBase {
  MANYSPAN_INLINE void half(int) {}
};

// Encodings of numbers alone.
template <Encoding E>
struct NumberReader : ReaderBase {
  const std::byte* from;

  MANYSPAN_INLINE void at(const Strip& s, std::int64_t t) { from = s.codes + t * tile_code_bytes(E); }
  MANYSPAN_INLINE void half(int h) { from += h * (tile_code_bytes(E) / 2); }
  MANYSPAN_INLINE Four four(int k) const {
    Four w;
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c) {
      const std::byte* line = from + (k + c) * kTileRows * (code_bits(E) / 8);
      if constexpr (E == Encoding::f32) w.column[c] = load(reinterpret_cast<const float*>(line));
      if constexpr (E == Encoding::bf16) w.column[c] = load(reinterpret_cast<const Bf16*>(line));
      if constexpr (E == Encoding::f16) w.column[c] = load_f16(line);
    }
    return w;
  }
};
template <>
struct Reader<Encoding::f32> : NumberReader<Encoding::f32> {};
template <>
struct Reader<Encoding::bf16> : NumberReader<Encoding::bf16> {};
template <>
struct Reader<Encoding::f16> : NumberReader<Encoding::f16> {};

// Sixteen E8M0 codes.
MANYSPAN_INLINE I e8m0_codes(const std::byte* scales) { return load_i8(scales) & all(255); }
MANYSPAN_INLINE F e8m0_powers(I codes) {
  return from_bits(max(shift_left<23>(codes), all(0x00400000)));  // code 0 is half the least normal number
}

// E4M3 with scales that share the tile. The unit of e4m3_small goes into the scale: no scale that is allowed is so large
// that F32 does not hold it (quant_formats.md 1: its product with 448 is a number).
template <Encoding E>
struct E4m3Reader : ReaderBase {
  const std::byte* from;
  F by;

  MANYSPAN_INLINE void at(const Strip& s, std::int64_t t) {
    from = s.codes + t * tile_code_bytes(E);
    const std::byte* scales = s.scales + t * tile_scale_bytes(E);
    if constexpr (E == Encoding::mxfp8) {
      by = e8m0_powers(e8m0_codes(scales));
    } else if constexpr (E == Encoding::fp8_block32) {
      by = halves(power(static_cast<std::uint32_t>(scales[0])), power(static_cast<std::uint32_t>(scales[1])));
    } else {
      float two[2];
      std::memcpy(two, scales, sizeof two);
      by = halves(two[0], two[1]);
    }
    by = by * all(kE4m3Unit);
  }
  MANYSPAN_INLINE void half(int h) { from += h * (kTileRows * kTileCols / 2); }
  MANYSPAN_INLINE Four four(int k) const {
    Four w;
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c) w.column[c] = e4m3_small(from + (k + c) * kTileRows) * by;
    return w;
  }
};
template <>
struct Reader<Encoding::fp8_block32> : E4m3Reader<Encoding::fp8_block32> {};
template <>
struct Reader<Encoding::fp8_block128_f32> : E4m3Reader<Encoding::fp8_block128_f32> {};
template <>
struct Reader<Encoding::mxfp8> : E4m3Reader<Encoding::mxfp8> {};

template <>
struct Reader<Encoding::mxfp4> : ReaderBase {
  const std::byte* from;
  F by;

  MANYSPAN_INLINE void at(const Strip& s, std::int64_t t) {
    from = s.codes + t * tile_code_bytes(Encoding::mxfp4);
    by = e8m0_powers(e8m0_codes(s.scales + t * kTileRows)) * all(0.5f);
  }
  MANYSPAN_INLINE void half(int h) { from += h * (kTileRows * kTileCols / 4); }
  MANYSPAN_INLINE Four four(int k) const {
    const Nibbles a = e2m1_doubled(from + k / 2 * kTileRows),
                  b = e2m1_doubled(from + (k / 2 + 1) * kTileRows);
    return {{a.low * by, a.high * by, b.low * by, b.high * by}};
  }
};

// One tile of 16 rows x 32 columns, decoded: out[k·16 + r].
template <Encoding E>
MANYSPAN_INLINE void decode_tile(const Strip& strip, std::int64_t t, float* out) {
  Reader<E> reader;
  reader.at(strip, t);
  for (int h = 0; h < 2; ++h) {
    reader.half(h);
    for (int k = 0; k < kTileCols / 2; k += 4, out += 4 * kTileRows) {
      const Four w = reader.four(k);
#pragma GCC unroll 4
      for (int c = 0; c < 4; ++c) store(w.column[c], out + c * kTileRows);
    }
  }
}

}  // namespace manyspan::kernels::MANYSPAN_ISA
