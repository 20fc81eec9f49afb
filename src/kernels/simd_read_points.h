// simd_read_points — readers of blocks whose codes choose points of a codebook: IQ2_XXS, IQ3_XXS, IQ3_S.
//
// Four columns of sixteen rows travel as sixteen words of four signed bytes; a column is then a byte of each word.
#pragma once

#include "kernels/simd_read_blocks.h"

namespace manyspan::kernels::MANYSPAN_ISA {

// Points as words of four magnitudes, a byte each.
template <int count>
struct Words {
  std::uint32_t word[count];
};
template <int count, int bits>
constexpr Words<count> point_words(const std::uint16_t* points, const std::uint8_t* levels, int per_point) {
  Words<count> w = {};
  for (int i = 0; i < count * 4; ++i) {
    const int point = i / per_point, level = points[point] >> (bits * (i % per_point)) & ((1 << bits) - 1);
    w.word[i / 4] |= std::uint32_t{levels[level]} << (i % 4 * 8);
  }
  return w;
}
inline constexpr auto kIq2Words = point_words<512, kIq2Bits>(kIq2XxsPoints, kIq2XxsLevels, 8);
inline constexpr auto kIq3XxsWords = point_words<256, kIq3Bits>(kIq3XxsPoints, kIq3XxsLevels, 4);
inline constexpr auto kIq3SWords = point_words<512, kIq3Bits>(kIq3SPoints, kIq3SLevels, 4);

// table[index] for each lane.
MANYSPAN_INLINE I gather(const std::uint32_t* table, I index) {
#if defined(MANYSPAN_ISA_avx512)
  I r;
  r.v[0] = (NativeI)_mm512_i32gather_epi32((__m512i)index.v[0], table, 4);
  return r;
#elif defined(MANYSPAN_ISA_avx2)
  I r;
  MANYSPAN_EACH(i) {
    r.v[i] = (NativeI)_mm256_i32gather_epi32(reinterpret_cast<const int*>(table), (__m256i)index.v[i], 4);
  }
  return r;
#else
  std::int32_t at[kLanes], words[kLanes];
  MANYSPAN_EACH(i) std::memcpy(at + i * kNative, &index.v[i], sizeof index.v[i]);
  for (int i = 0; i < kLanes; ++i) std::memcpy(words + i, table + at[i], 4);
  I r;
  MANYSPAN_EACH(i) std::memcpy(&r.v[i], words + i * kNative, sizeof r.v[i]);
  return r;
#endif
}

// Each of a word's four magnitudes, none zero, with a minus where that bit of the lane's lowest four is set.
MANYSPAN_INLINE I with_signs(I magnitudes, I signs) {
  const I n = signs & all(15);
  const I ones = (n | shift_left<7>(n) | shift_left<14>(n) | shift_left<21>(n)) & all(0x01010101);
  return (magnitudes ^ (shift_left<8>(ones) - ones)) + ones;
}

// Byte c of each word.
MANYSPAN_INLINE F signed_byte(I words, int c) {
  MANYSPAN_EACH(i) words.v[i] = words.v[i] << (24 - 8 * c) >> 24;
  return to_f32(words);
}

// What has read words(q), q in [0, 8), for four columns of the tile each, and `scale`.
template <class Derived, Encoding E>
struct PointReader : BlockReader<E> {
  F scale;
  int first;  // of words, in the half

  MANYSPAN_INLINE void half(int h) { first = 4 * h; }
  MANYSPAN_INLINE Four four(int k) const {
    const I words = static_cast<const Derived*>(this)->words(first + k / 4);
    Four w;
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c) w.column[c] = scale * signed_byte(words, c);
    return w;
  }
};

MANYSPAN_INLINE I word_line(const std::byte* lines) {
  return (widen(load_bytes(lines)) | shift_left<8>(widen(load_bytes(lines + kLanes)))) |
         (shift_left<16>(widen(load_bytes(lines + 2 * kLanes))) |
          shift_left<24>(widen(load_bytes(lines + 3 * kLanes))));
}

template <int n>
MANYSPAN_INLINE I right(I x, int times) {  // x >> n·times, zeros from the left
  typedef std::uint32_t NativeU __attribute__((vector_size(kNative * 4)));
  MANYSPAN_EACH(i) x.v[i] = (NativeI)((NativeU)x.v[i] >> (n * times));
  return x;
}

// The word of the two xxs types: four scale bits on top, then four times seven signs. The eighth sign of each makes
// the count of minus signs even.
struct SevenSigns {
  I word, even;  // even: bit 7l is the eighth of group l

  MANYSPAN_INLINE void read(const std::byte* lines) {
    word = word_line(lines);
    const I two = word ^ shift_right<1>(word), four = two ^ shift_right<2>(two);
    even = (four ^ shift_right<4>(two)) ^ shift_right<6>(word);
  }
  MANYSPAN_INLINE F scale() const { return to_f32(shift_right<28>(word)) + all(0.5f); }
  // Of the q-th four columns.
  MANYSPAN_INLINE I four(int q) const {
    const I low = right<7>(word, q / 2);
    if (q % 2 == 0) return low;
    return (shift_right<4>(low) & all(7)) | (shift_left<3>(right<7>(even, q / 2)) & all(8));
  }
};

template <>
struct Reader<Encoding::iq2_xxs> : PointReader<Reader<Encoding::iq2_xxs>, Encoding::iq2_xxs> {
  SevenSigns signs;
  const std::byte* indices;

  MANYSPAN_INLINE void at(const Strip& strip, std::int64_t t) {
    go(strip, t);
    indices = line(2 + 8 * s);
    signs.read(line(6 + 8 * s));
    scale = half_at(0) * signs.scale() * all(0.25f);
  }
  MANYSPAN_INLINE I words(int q) const {
    const I index = widen(load_bytes(indices + q / 2 * kLanes));
    return with_signs(gather(kIq2Words.word, index + index + all(q % 2)), signs.four(q));
  }
};

template <>
struct Reader<Encoding::iq3_xxs> : PointReader<Reader<Encoding::iq3_xxs>, Encoding::iq3_xxs> {
  SevenSigns signs;
  const std::byte* indices;

  MANYSPAN_INLINE void at(const Strip& strip, std::int64_t t) {
    go(strip, t);
    indices = line(2 + 8 * s);
    signs.read(line(66 + 4 * s));
    scale = half_at(0) * signs.scale() * all(0.5f);
  }
  MANYSPAN_INLINE I words(int q) const {
    const I index = widen(load_bytes(indices + q * kLanes));
    return with_signs(gather(kIq3XxsWords.word, index), signs.four(q));
  }
};

template <>
struct Reader<Encoding::iq3_s> : PointReader<Reader<Encoding::iq3_s>, Encoding::iq3_s> {
  const std::byte *indices, *signs;
  Bytes tops;

  MANYSPAN_INLINE void at(const Strip& strip, std::int64_t t) {
    go(strip, t);
    indices = line(2 + 8 * s);
    signs = line(74 + 4 * s);
    tops = bytes(66 + s);
    const Bytes steps = bits_from(bytes(106 + s / 2), 4 * (s & 1)) & 15;
    scale = half_at(0) * numbers(bits_to(steps, 1) | 1);
  }
  MANYSPAN_INLINE I words(int q) const {
    const I top = widen(bits_from(tops, q) & 1);
    const I index = widen(load_bytes(indices + q * kLanes)) | shift_left<8>(top);
    const Bytes sign = bits_from(load_bytes(signs + q / 2 * kLanes), 4 * (q % 2));
    return with_signs(gather(kIq3SWords.word, index), widen(sign & 15));
  }
};

}  // namespace manyspan::kernels::MANYSPAN_ISA
