// simd_read_blocks — readers of blocks whose codes are small whole numbers, or levels: Q4_0 to Q6_K, IQ4, NVFP4.
//
// A line is a byte of the sixteen rows' blocks: line j of a block is byte j of quant_formats.md 3.1. s is the tile's
// number within the block, h the half.
#pragma once

#include "kernels/simd_read.h"
#include "tensor/codebooks.h"

namespace manyspan::kernels::MANYSPAN_ISA {

// The bits from n on come down to bit 0; above them come a neighbour's: for a mask to take away.
MANYSPAN_INLINE Bytes bits_from(Bytes b, int n) {
  typedef std::uint16_t Words __attribute__((vector_size(16)));
  return (Bytes)((Words)b >> n);
}
MANYSPAN_INLINE Bytes bits_to(Bytes b, int n) {
  typedef std::uint16_t Words __attribute__((vector_size(16)));
  return (Bytes)((Words)b << n);
}

template <Encoding E>
struct BlockReader : ReaderBase {
  static constexpr int kTiles = block_cols(E) / kTileCols;

  const std::byte* block;
  int s;

  MANYSPAN_INLINE void go(const Strip& strip, std::int64_t t) {
    block = strip.codes + t / kTiles * (block_bytes(E) * kTileRows);
    s = static_cast<int>(t % kTiles);
  }
  MANYSPAN_INLINE const std::byte* line(int j) const { return block + j * kTileRows; }
  MANYSPAN_INLINE Bytes bytes(int j) const { return load_bytes(line(j)); }
  MANYSPAN_INLINE F half_at(int j) const { return half_line(line(j)); }
};

template <>
struct Reader<Encoding::q8_0> : BlockReader<Encoding::q8_0> {
  F d;
  const std::byte* from;

  MANYSPAN_INLINE void at(const Strip& strip, std::int64_t t) {
    go(strip, t);
    d = half_at(0);
    from = line(2);
  }
  MANYSPAN_INLINE void half(int h) { from = line(2 + 16 * h); }
  MANYSPAN_INLINE Four four(int k) const {
    Four w;
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c) w.column[c] = d * to_f32(load_i8(from + (k + c) * kTileRows));
    return w;
  }
};

// scale · q + offset for codes q, where q comes from q(line) of four lines from `from` on.
template <class Q>
MANYSPAN_INLINE Four scaled(F scale, F offset, const std::byte* from, Q&& q) {
  Four w;
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) w.column[c] = fma(scale, numbers(q(from + c * kTileRows)), offset);
  return w;
}

template <>
struct Reader<Encoding::q4_0> : BlockReader<Encoding::q4_0> {
  F d, offset;
  int shift;

  MANYSPAN_INLINE void at(const Strip& strip, std::int64_t t) {
    go(strip, t);
    d = half_at(0);
    offset = d * all(-8.0f);
  }
  MANYSPAN_INLINE void half(int h) { shift = 4 * h; }
  MANYSPAN_INLINE Four four(int k) const {
    return scaled(d, offset, line(2 + k),
                  [this](const std::byte* at) { return bits_from(load_bytes(at), shift) & 15; });
  }
};

template <>
struct Reader<Encoding::q2_k> : BlockReader<Encoding::q2_k> {
  F d, m, scale, offset;
  const std::byte* from;

  MANYSPAN_INLINE void at(const Strip& strip, std::int64_t t) {
    go(strip, t);
    d = half_at(80), m = half_at(82);
  }
  MANYSPAN_INLINE void half(int h) {
    const Bytes scales = bytes(2 * s + h);
    scale = d * numbers(scales & 15);
    offset = zero() - m * numbers(bits_from(scales, 4) & 15);
    from = line(16 + 32 * (s / 4) + 16 * h);
  }
  MANYSPAN_INLINE Four four(int k) const {
    const int shift = 2 * (s % 4);
    return scaled(scale, offset, from + k * kTileRows,
                  [=](const std::byte* at) { return bits_from(load_bytes(at), shift) & 3; });
  }
};

template <>
struct Reader<Encoding::q3_k> : BlockReader<Encoding::q3_k> {
  F d, scale, offset;
  const std::byte *from, *high;

  MANYSPAN_INLINE void at(const Strip& strip, std::int64_t t) {
    go(strip, t);
    d = half_at(108);
  }
  MANYSPAN_INLINE void half(int h) {
    const int g = 2 * s + h;
    const Bytes low = bits_from(bytes(96 + g % 8), g < 8 ? 0 : 4) & 15,
                top = bits_from(bytes(104 + g % 4), 2 * (g / 4)) & 3;
    scale = d * signed_numbers((low | bits_to(top, 4)) - 32);
    offset = scale * all(-4.0f);
    from = line(32 + 32 * (s / 4) + 16 * h);
    high = line(16 * h);
  }
  MANYSPAN_INLINE Four four(int k) const {
    const int shift = 2 * (s % 4);
    const std::byte* tops = high + k * kTileRows;
    const std::byte* first = from + k * kTileRows;
    return scaled(scale, offset, first, [=, this](const std::byte* at) {
      const Bytes top = bits_to(bits_from(load_bytes(tops + (at - first)), s) & 1, 2);
      return (bits_from(load_bytes(at), shift) & 3) | top;
    });
  }
};

// Scale and offset of 32 columns of Q4_K and Q5_K: six bits each.
template <Encoding E>
struct SixBitReader : BlockReader<E> {
  F scale, offset;

  MANYSPAN_INLINE void at(const Strip& strip, std::int64_t t) {
    this->go(strip, t);
    const int j = this->s;
    Bytes step, least;
    if (j < 4) {
      step = this->bytes(4 + j) & 63;
      least = this->bytes(8 + j) & 63;
    } else {
      const Bytes low = this->bytes(8 + j), a = this->bytes(j), b = this->bytes(4 + j);
      step = (low & 15) | (bits_from(a, 2) & 48);
      least = (bits_from(low, 4) & 15) | (bits_from(b, 2) & 48);
    }
    scale = this->half_at(0) * numbers(step);
    offset = zero() - this->half_at(2) * numbers(least);
  }
};

template <>
struct Reader<Encoding::q4_k> : SixBitReader<Encoding::q4_k> {
  const std::byte* from;

  MANYSPAN_INLINE void half(int h) { from = line(16 + 32 * (s / 2) + 16 * h); }
  MANYSPAN_INLINE Four four(int k) const {
    const int shift = 4 * (s & 1);
    return scaled(scale, offset, from + k * kTileRows,
                  [=](const std::byte* at) { return bits_from(load_bytes(at), shift) & 15; });
  }
};

template <>
struct Reader<Encoding::q5_k> : SixBitReader<Encoding::q5_k> {
  const std::byte *from, *high;

  MANYSPAN_INLINE void half(int h) {
    from = line(48 + 32 * (s / 2) + 16 * h);
    high = line(16 + 16 * h);
  }
  MANYSPAN_INLINE Four four(int k) const {
    const int shift = 4 * (s & 1);
    const std::byte* tops = high + k * kTileRows;
    const std::byte* first = from + k * kTileRows;
    return scaled(scale, offset, first, [=, this](const std::byte* at) {
      const Bytes top = bits_to(bits_from(load_bytes(tops + (at - first)), s) & 1, 4);
      return (bits_from(load_bytes(at), shift) & 15) | top;
    });
  }
};

template <>
struct Reader<Encoding::q6_k> : BlockReader<Encoding::q6_k> {
  F d, scale, offset;
  const std::byte *from, *high;

  MANYSPAN_INLINE void at(const Strip& strip, std::int64_t t) {
    go(strip, t);
    d = half_at(208);
  }
  MANYSPAN_INLINE void half(int h) {
    scale = d * signed_numbers(bytes(192 + 2 * s + h));
    offset = scale * all(-32.0f);
    from = line(64 * (s / 4) + 32 * (s & 1) + 16 * h);
    high = line(128 + 32 * (s / 4) + 16 * h);
  }
  MANYSPAN_INLINE Four four(int k) const {
    const int shift = 4 * (s % 4 >> 1), two = 2 * (s % 4);
    const std::byte* tops = high + k * kTileRows;
    const std::byte* first = from + k * kTileRows;
    return scaled(scale, offset, first, [=](const std::byte* at) {
      const Bytes top = bits_to(bits_from(load_bytes(tops + (at - first)), two) & 3, 4);
      return (bits_from(load_bytes(at), shift) & 15) | top;
    });
  }
};

MANYSPAN_INLINE Bytes iq4_levels() {
  Bytes table;
  std::memcpy(&table, kIq4Levels, sizeof table);
  return table;
}

// Levels instead of numbers; `shift` and the lines say which.
template <Encoding E>
struct LevelReader : BlockReader<E> {
  F scale;
  const std::byte* from;
  int shift;

  MANYSPAN_INLINE void half(int h) { shift = 4 * h; }
  MANYSPAN_INLINE Four four(int k) const {
    const Bytes table = iq4_levels();
    Four w;
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c) {
      const Bytes codes = bits_from(load_bytes(from + (k + c) * kTileRows), shift);
      w.column[c] = scale * signed_numbers(look_up(table, codes));
    }
    return w;
  }
};

template <>
struct Reader<Encoding::iq4_nl> : LevelReader<Encoding::iq4_nl> {
  MANYSPAN_INLINE void at(const Strip& strip, std::int64_t t) {
    go(strip, t);
    scale = half_at(0);
    from = line(2);
  }
};

template <>
struct Reader<Encoding::iq4_xs> : LevelReader<Encoding::iq4_xs> {
  MANYSPAN_INLINE void at(const Strip& strip, std::int64_t t) {
    go(strip, t);
    const Bytes low = bits_from(bytes(4 + s / 2), 4 * (s & 1)) & 15,
                high = bits_from(bytes(s < 4 ? 2 : 3), 2 * (s % 4)) & 3;
    scale = half_at(0) * signed_numbers((low | bits_to(high, 4)) - 32);
    from = line(8 + 16 * s);
  }
};

template <>
struct Reader<Encoding::nvfp4_ggml> : BlockReader<Encoding::nvfp4_ggml> {
  F factor, by;
  const std::byte* from;

  MANYSPAN_INLINE void at(const Strip& strip, std::int64_t t) {
    go(strip, t);
    factor = load(reinterpret_cast<const float*>(strip.scales));
  }
  MANYSPAN_INLINE void half(int h) {
    const I code = widen(bytes(2 * s + h) & 127);
    const F tiny = to_f32(code) * all(0x1p-10f), normal = from_bits(shift_left<20>(code) + all(119 << 23));
    by = where_less(to_f32(code), all(8.0f), tiny, normal);  // half its worth: the numbers below are doubled
    from = line(4 + 8 * (2 * s + h));
  }
  // Columns 0 to 7 are the low halves of eight bytes, 8 to 15 the high ones.
  MANYSPAN_INLINE Four four(int k) const {
    const std::byte* first = from + k % 8 * kTileRows;
    const Bytes table = {0, 1, 2, 3, 4, 6, 8, 12, 0, 255, 254, 253, 252, 250, 248, 244};
    Four w;
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c) {
      const Bytes codes = bits_from(load_bytes(first + c * kTileRows), k / 8 * 4);
      w.column[c] = signed_numbers(look_up(table, codes)) * by * factor;
    }
    return w;
  }
};

}  // namespace manyspan::kernels::MANYSPAN_ISA
