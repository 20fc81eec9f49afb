// simd_grid — round.h's grids on lanes, bit for bit: rounding onto E4M3 and E2M1 with their scales, and back.
//
// Numerics   model.md 4.1 to 4.5. A grid's step is a power of two, so adding and taking away a large power of
//            two rounds to it, ties to even, in the machine's own adder.
#pragma once

#include "kernels/simd.h"
#include "tensor/fp4.h"
#include "tensor/fp8.h"

namespace manyspan::kernels::MANYSPAN_ISA {

MANYSPAN_INLINE std::uint32_t raw(float x) {
  std::uint32_t u;
  std::memcpy(&u, &x, sizeof u);
  return u;
}
MANYSPAN_INLINE float from_raw(std::uint32_t u) {
  float x;
  std::memcpy(&x, &u, sizeof x);
  return x;
}

// 2^(code - 127), and its inverse; both exact, with no case for codes of zero.
MANYSPAN_INLINE float power(std::uint32_t code) { return from_raw(code == 0 ? 0x00400000u : code << 23); }
MANYSPAN_INLINE float inverse_power(std::uint32_t code) { return power(254 - code); }

MANYSPAN_INLINE std::uint32_t ceil_code(float r) {  // e8m0_ceil, kept out of the linker's sight
  const std::uint32_t u = raw(r), code = (u >> 23) + ((u & 0x7fffffu) != 0);
  return code > 254 ? 254 : code;
}

// The nearest number with `digits` binary digits after the leading one and no step below `lowest`'s.
template <int digits, std::int32_t lowest>
MANYSPAN_INLINE F nearest(F x) {
  const I u = bits(x), sign = u & all(static_cast<std::int32_t>(0x80000000));
  const I exponent = max(u & all(0x7f800000), all(lowest << 23));
  const F big = from_bits(exponent + all((23 - digits) << 23));
  const F rounded = (from_bits(u & all(0x7fffffff)) + big) - big;
  return from_bits(bits(rounded) | sign);
}
MANYSPAN_INLINE F nearest_e4m3(F x) { return nearest<3, 127 - 6>(min(max(x, all(-448.0f)), all(448.0f))); }
MANYSPAN_INLINE F nearest_e2m1(F x) { return nearest<1, 127>(min(max(x, all(-6.0f)), all(6.0f))); }

// act8 of 32 columns (bf16 values): q is left on the grid before scaling; returns the scale's code.
MANYSPAN_INLINE std::uint32_t grid8_codes(F& a, F& b) {
  const float top = largest(max(abs(a), abs(b)));
  const std::uint32_t code = ceil_code((top < 1e-4f ? 1e-4f : top) * (1.0f / 448.0f));
  const F inverse = all(inverse_power(code));
  a = nearest_e4m3(a * inverse);
  b = nearest_e4m3(b * inverse);
  return code;
}
MANYSPAN_INLINE void grid8(F& a, F& b) {
  const F scale = all(power(grid8_codes(a, b)));
  a = a * scale;
  b = b * scale;
}

// The same for index queries and keys: E2M1 with a power of two per 32.
MANYSPAN_INLINE std::uint32_t grid4_key_codes(F& a, F& b) {
  constexpr float kFloor = 6 * 0x1p-126f;
  const float top = largest(max(abs(a), abs(b)));
  const std::uint32_t code = ceil_code((top < kFloor ? kFloor : top) * (1.0f / 6.0f));
  const F inverse = all(inverse_power(code));
  a = nearest_e2m1(a * inverse);
  b = nearest_e2m1(b * inverse);
  return code;
}
MANYSPAN_INLINE void grid4_key(F& a, F& b) {
  const F scale = all(power(grid4_key_codes(a, b)));
  a = a * scale;
  b = b * scale;
}

// Compressed rows: E2M1 with an E4M3 scale per 16.
MANYSPAN_INLINE std::uint8_t grid4_row_codes(F& a) {
  constexpr float kFloor = 6 * 0x1p-9f;
  const float top = largest(abs(a)), amax = top < kFloor ? kFloor : top;
  const float wanted = amax / 6.0f < 448.0f ? amax / 6.0f : 448.0f;
  const std::uint8_t code = float_to_fp8(wanted);
  a = nearest_e2m1(a / all(fp8_to_float(code)));
  return code;
}

// Codes of lanes that lie on the grid.
MANYSPAN_INLINE I codes_e4m3(F q) {
  const I u = bits(q), sign = shift_right<24>(u & all(static_cast<std::int32_t>(0x80000000)));
  const F magnitude = abs(q);
  const I normal = shift_right<20>(bits(magnitude)) - all(120 << 3);
  const I tiny = to_int(magnitude * all(512.0f));  // multiples of 2^-9
  const F chosen = where_less(magnitude, all(0x1p-6f), from_bits(tiny), from_bits(normal));
  return bits(chosen) | sign;
}
MANYSPAN_INLINE I codes_e2m1(F q) {
  const I u = bits(q), sign = shift_right<28>(u & all(static_cast<std::int32_t>(0x80000000)));
  const F magnitude = abs(q);
  const I normal = shift_right<22>(bits(magnitude)) - all(252);
  const I tiny = to_int(magnitude + magnitude);
  return bits(where_less(magnitude, all(1.0f), from_bits(tiny), from_bits(normal))) | sign;
}

// Sixteen E4M3 codes as numbers of 2^-8 their worth. They become halves, where what stands above the mantissa falls into
// place, and those floats: an instruction that minds no subnormal half, while a subnormal float costs some processors a
// hundred cycles.
inline constexpr float kE4m3Unit = 0x1p8f;
MANYSPAN_INLINE F e4m3_small(const void* codes) {
#if defined(MANYSPAN_ISA_avx512) || defined(MANYSPAN_ISA_avx2)
  const __m256i wide = _mm256_cvtepi8_epi16(_mm_loadu_si128(static_cast<const __m128i*>(codes)));
  return f16_lanes(
      _mm256_and_si256(_mm256_slli_epi16(wide, 7), _mm256_set1_epi16(static_cast<short>(0xbf80))));
#else
  return from_bits(shift_left<20>(load_i8(codes)) & all(static_cast<std::int32_t>(0x87f00000))) *
         all(0x1p112f);
#endif
}

MANYSPAN_INLINE float e4m3_value(std::uint8_t code) {
  return from_raw((code & 0x7fu) << 20 | (code & 0x80u) << 24) * 0x1p120f;
}

// Sixteen bytes of two E2M1 codes each, as twice their worth.
struct Nibbles {
  F low, high;
};
MANYSPAN_INLINE Nibbles e2m1_doubled(const void* bytes) {
#if defined(MANYSPAN_ISA_avx2) || defined(MANYSPAN_ISA_avx512)
  const __m128i table = _mm_setr_epi8(0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12);
  const __m128i mask = _mm_set1_epi8(15);
  const __m128i both = _mm_loadu_si128(static_cast<const __m128i*>(bytes));
  const __m128i low = _mm_shuffle_epi8(table, _mm_and_si128(both, mask));
  const __m128i high = _mm_shuffle_epi8(table, _mm_and_si128(_mm_srli_epi16(both, 4), mask));
  return {to_f32(widen_i8(low)), to_f32(widen_i8(high))};
#else
  static constexpr float kTwice[16] = {0, 1, 2, 3, 4, 6, 8, 12, -0.0f, -1, -2, -3, -4, -6, -8, -12};
  const auto* b = static_cast<const std::uint8_t*>(bytes);
  float low[kLanes], high[kLanes];
  for (int i = 0; i < kLanes; ++i) low[i] = kTwice[b[i] & 15], high[i] = kTwice[b[i] >> 4];
  return {load(low), load(high)};
#endif
}

// Eight bytes of two codes each, sixteen columns in order.
MANYSPAN_INLINE F e2m1_row_doubled(const void* bytes) {
#if defined(MANYSPAN_ISA_avx2) || defined(MANYSPAN_ISA_avx512)
  const __m128i table = _mm_setr_epi8(0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12);
  const __m128i mask = _mm_set1_epi8(15);
  const __m128i both = _mm_loadl_epi64(static_cast<const __m128i*>(bytes));
  const __m128i low = _mm_and_si128(both, mask), high = _mm_and_si128(_mm_srli_epi16(both, 4), mask);
  const __m128i row = _mm_shuffle_epi8(table, _mm_unpacklo_epi8(low, high));
  return to_f32(widen_i8(row));
#else
  const auto* b = static_cast<const std::uint8_t*>(bytes);
  float row[kLanes];
  for (int i = 0; i < kLanes; ++i) row[i] = 2 * fp4_to_float(i % 2 == 0 ? b[i / 2] & 15u : b[i / 2] >> 4u);
  return load(row);
#endif
}

}  // namespace manyspan::kernels::MANYSPAN_ISA
