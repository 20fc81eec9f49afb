// simd_bytes — sixteen bytes side by side, and the words that turn those of packed weights into lanes.
//
// Numerics   exact: bytes, small whole numbers and halves as f32
#pragma once

#include "kernels/simd.h"

namespace manyspan::kernels::MANYSPAN_ISA {

typedef std::uint8_t Bytes __attribute__((vector_size(16)));

MANYSPAN_INLINE Bytes load_bytes(const std::byte* p) {
  Bytes b;
  std::memcpy(&b, p, sizeof b);
  return b;
}

// table[b & 15] for each byte.
MANYSPAN_INLINE Bytes look_up(Bytes table, Bytes b) {
#if defined(MANYSPAN_ISA_avx2) || defined(MANYSPAN_ISA_avx512)
  return (Bytes)_mm_shuffle_epi8((__m128i)table, (__m128i)(b & 15));
#else
  return __builtin_shuffle(table, b & 15);
#endif
}

// Each byte as a lane, unsigned or signed.
MANYSPAN_INLINE I widen(Bytes b) {
  I r;
#if defined(MANYSPAN_ISA_avx512)
  r.v[0] = (NativeI)_mm512_cvtepu8_epi32((__m128i)b);
#elif defined(MANYSPAN_ISA_avx2)
  r.v[0] = (NativeI)_mm256_cvtepu8_epi32((__m128i)b);
  r.v[1] = (NativeI)_mm256_cvtepu8_epi32(_mm_unpackhi_epi64((__m128i)b, (__m128i)b));
#else
  const Bytes zeros = {};
  const Bytes low =
      __builtin_shuffle(b, zeros, (Bytes){0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23});
  const Bytes high =
      __builtin_shuffle(b, zeros, (Bytes){8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31});
  const Bytes first = {0, 1, 16, 17, 2, 3, 18, 19, 4, 5, 20, 21, 6, 7, 22, 23};
  const Bytes last = {8, 9, 24, 25, 10, 11, 26, 27, 12, 13, 28, 29, 14, 15, 30, 31};
  r.v[0] = (NativeI)__builtin_shuffle(low, zeros, first);
  r.v[1] = (NativeI)__builtin_shuffle(low, zeros, last);
  r.v[2] = (NativeI)__builtin_shuffle(high, zeros, first);
  r.v[3] = (NativeI)__builtin_shuffle(high, zeros, last);
#endif
  return r;
}
MANYSPAN_INLINE I widen_signed(Bytes b) {
#if defined(MANYSPAN_ISA_avx2) || defined(MANYSPAN_ISA_avx512)
  return widen_i8((__m128i)b);
#else
  return (widen(b ^ 128)) - all(128);
#endif
}
MANYSPAN_INLINE F numbers(Bytes b) { return to_f32(widen(b)); }
MANYSPAN_INLINE F signed_numbers(Bytes b) { return to_f32(widen_signed(b)); }

// Sixteen F16 whose low bytes are `low`; infinities and NaN stay what they are.
MANYSPAN_INLINE F halves_of(Bytes low, Bytes high) {
#if defined(MANYSPAN_ISA_avx512) || defined(MANYSPAN_ISA_avx2)
  return f16_lanes(_mm256_set_m128i(_mm_unpackhi_epi8((__m128i)low, (__m128i)high),
                                    _mm_unpacklo_epi8((__m128i)low, (__m128i)high)));
#else
  return from_half_bits(widen(low) | shift_left<8>(widen(high)));
#endif
}
// The F16 whose bytes are two lines of sixteen.
MANYSPAN_INLINE F half_line(const std::byte* lines) {
  return halves_of(load_bytes(lines), load_bytes(lines + kLanes));
}

}  // namespace manyspan::kernels::MANYSPAN_ISA
