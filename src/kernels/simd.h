// simd — sixteen f32 lanes, the one width that host kernels are written in, in the words of each instruction set.
//
// Everything is forced inline: a function left behind as a weak symbol could be the one the linker keeps for
// a machine that lacks the instructions.
//
// Numerics   each lane rounds alone and alike, so where a number stands never changes what becomes of it; fma
//            rounds once where the machine can (avx2, avx512) and twice where it can't (generic)
#pragma once

#include <cstdint>
#include <cstring>

#include "tensor/bf16.h"

#if defined(MANYSPAN_ISA_avx2) || defined(MANYSPAN_ISA_avx512)
#if defined(MANYSPAN_ISA_avx512)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // g++ 12's own header starts from undefined registers
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#endif

#if !defined(MANYSPAN_ISA)
#define MANYSPAN_ISA generic
#endif

#define MANYSPAN_INLINE __attribute__((always_inline)) inline

namespace manyspan::kernels::MANYSPAN_ISA {

#if defined(MANYSPAN_ISA_avx512)
inline constexpr int kNative = 16;  // lanes of one register
#elif defined(MANYSPAN_ISA_avx2)
inline constexpr int kNative = 8;
#else
inline constexpr int kNative = 4;
#endif
inline constexpr int kLanes = 16;
inline constexpr int kPieces = kLanes / kNative;

typedef float NativeF __attribute__((vector_size(kNative * 4)));
typedef std::int32_t NativeI __attribute__((vector_size(kNative * 4)));

struct F {
  NativeF v[kPieces];
};
struct I {
  NativeI v[kPieces];
};

// f(piece) for each register of a value; the compiler sees straight code.
#define MANYSPAN_EACH(i) _Pragma("GCC unroll 4") for (int i = 0; i < kPieces; ++i)

#define MANYSPAN_LANEWISE(T, op)                \
  MANYSPAN_INLINE T operator op(T a, T b) {     \
    T r;                                        \
    MANYSPAN_EACH(i) r.v[i] = a.v[i] op b.v[i]; \
    return r;                                   \
  }
MANYSPAN_LANEWISE(F, +)
MANYSPAN_LANEWISE(F, -)
MANYSPAN_LANEWISE(F, *)
MANYSPAN_LANEWISE(F, /)
MANYSPAN_LANEWISE(I, +)
MANYSPAN_LANEWISE(I, -)
MANYSPAN_LANEWISE(I, &)
MANYSPAN_LANEWISE(I, |)
MANYSPAN_LANEWISE(I, ^)
#undef MANYSPAN_LANEWISE

MANYSPAN_INLINE F all(float x) {
  F r;
  MANYSPAN_EACH(i) {
#if defined(MANYSPAN_ISA_avx512)
    r.v[i] = _mm512_set1_ps(x);
#elif defined(MANYSPAN_ISA_avx2)
    r.v[i] = _mm256_set1_ps(x);
#else
    r.v[i] = NativeF{x, x, x, x};
#endif
  }
  return r;
}

// Lanes 0 to 7, and 8 to 15.
MANYSPAN_INLINE F halves(float low, float high) {
#if defined(MANYSPAN_ISA_avx512)
  F r;
  r.v[0] = _mm512_mask_blend_ps(0xff00, _mm512_set1_ps(low), _mm512_set1_ps(high));
  return r;
#else
  const F a = all(low), b = all(high);
  F r;
  MANYSPAN_EACH(i) r.v[i] = i < kPieces / 2 ? a.v[i] : b.v[i];
  return r;
#endif
}

// Lanes 8 to 15, then 0 to 7.
MANYSPAN_INLINE F swapped(F x) {
  F r;
#if defined(MANYSPAN_ISA_avx512)
  r.v[0] = _mm512_shuffle_f32x4(x.v[0], x.v[0], 0x4e);
#else
  MANYSPAN_EACH(i) r.v[i] = x.v[(i + kPieces / 2) % kPieces];
#endif
  return r;
}

MANYSPAN_INLINE I all(std::int32_t x) {
  I r;
  MANYSPAN_EACH(i) r.v[i] = NativeI{} + x;
  return r;
}

MANYSPAN_INLINE F zero() {
  F r;
  MANYSPAN_EACH(i) r.v[i] = NativeF{};
  return r;
}

MANYSPAN_INLINE F load(const float* p) {
  F r;
  // Register by register: a copy of all sixteen lanes would go through the stack in quarters.
  MANYSPAN_EACH(i) std::memcpy(&r.v[i], p + i * kNative, sizeof r.v[i]);
  return r;
}

MANYSPAN_INLINE void store(F x, float* p) {
  MANYSPAN_EACH(i) std::memcpy(p + i * kNative, &x.v[i], sizeof x.v[i]);
}

MANYSPAN_INLINE F fma(F a, F b, F c) {
  F r;
  MANYSPAN_EACH(i) {
#if defined(MANYSPAN_ISA_avx512)
    r.v[i] = _mm512_fmadd_ps(a.v[i], b.v[i], c.v[i]);
#elif defined(MANYSPAN_ISA_avx2)
    r.v[i] = _mm256_fmadd_ps(a.v[i], b.v[i], c.v[i]);
#else
    r.v[i] = a.v[i] * b.v[i] + c.v[i];
#endif
  }
  return r;
}

MANYSPAN_INLINE F max(F a, F b) {
  F r;
  MANYSPAN_EACH(i) {
#if defined(MANYSPAN_ISA_avx512)
    r.v[i] = _mm512_max_ps(a.v[i], b.v[i]);
#elif defined(MANYSPAN_ISA_avx2)
    r.v[i] = _mm256_max_ps(a.v[i], b.v[i]);
#else
    r.v[i] = a.v[i] > b.v[i] ? a.v[i] : b.v[i];
#endif
  }
  return r;
}

MANYSPAN_INLINE F min(F a, F b) {
  F r;
  MANYSPAN_EACH(i) {
#if defined(MANYSPAN_ISA_avx512)
    r.v[i] = _mm512_min_ps(a.v[i], b.v[i]);
#elif defined(MANYSPAN_ISA_avx2)
    r.v[i] = _mm256_min_ps(a.v[i], b.v[i]);
#else
    r.v[i] = a.v[i] < b.v[i] ? a.v[i] : b.v[i];
#endif
  }
  return r;
}

MANYSPAN_INLINE I bits(F x) {
  I r;
  MANYSPAN_EACH(i) r.v[i] = (NativeI)x.v[i];
  return r;
}
MANYSPAN_INLINE F from_bits(I x) {
  F r;
  MANYSPAN_EACH(i) r.v[i] = (NativeF)x.v[i];
  return r;
}

template <int n>
MANYSPAN_INLINE I shift_left(I x) {
  MANYSPAN_EACH(i) x.v[i] <<= n;
  return x;
}
// Zeros come in from the left.
template <int n>
MANYSPAN_INLINE I shift_right(I x) {
  typedef std::uint32_t NativeU __attribute__((vector_size(kNative * 4)));
  MANYSPAN_EACH(i) x.v[i] = (NativeI)((NativeU)x.v[i] >> n);
  return x;
}

// a where x < y, else b.
MANYSPAN_INLINE F where_less(F x, F y, F a, F b) {
  F r;
  MANYSPAN_EACH(i) r.v[i] = x.v[i] < y.v[i] ? a.v[i] : b.v[i];
  return r;
}
MANYSPAN_INLINE I max(I a, I b) {
  I r;
  MANYSPAN_EACH(i) r.v[i] = a.v[i] > b.v[i] ? a.v[i] : b.v[i];
  return r;
}

MANYSPAN_INLINE F to_f32(I x) {
  F r;
  MANYSPAN_EACH(i) r.v[i] = __builtin_convertvector(x.v[i], NativeF);
  return r;
}
// Towards zero.
MANYSPAN_INLINE I to_int(F x) {
  I r;
  MANYSPAN_EACH(i) r.v[i] = __builtin_convertvector(x.v[i], NativeI);
  return r;
}

MANYSPAN_INLINE F abs(F x) { return from_bits(bits(x) & all(0x7fffffff)); }

// Sixteen unsigned 16-bit, or signed 8-bit numbers, widened.
MANYSPAN_INLINE I load_u16(const void* p) {
  I r;
#if defined(MANYSPAN_ISA_avx512)
  r.v[0] = (NativeI)_mm512_cvtepu16_epi32(_mm256_loadu_si256(static_cast<const __m256i*>(p)));
#elif defined(MANYSPAN_ISA_avx2)
  const auto* half = static_cast<const __m128i*>(p);
  r.v[0] = (NativeI)_mm256_cvtepu16_epi32(_mm_loadu_si128(half));
  r.v[1] = (NativeI)_mm256_cvtepu16_epi32(_mm_loadu_si128(half + 1));
#else
  std::uint16_t u[kLanes];
  std::memcpy(u, p, sizeof u);
  MANYSPAN_EACH(i) r.v[i] = NativeI{u[4 * i], u[4 * i + 1], u[4 * i + 2], u[4 * i + 3]};
#endif
  return r;
}
#if defined(MANYSPAN_ISA_avx2) || defined(MANYSPAN_ISA_avx512)
MANYSPAN_INLINE I widen_i8(__m128i x) {
  I r;
#if defined(MANYSPAN_ISA_avx512)
  r.v[0] = (NativeI)_mm512_cvtepi8_epi32(x);
#else
  r.v[0] = (NativeI)_mm256_cvtepi8_epi32(x);
  r.v[1] = (NativeI)_mm256_cvtepi8_epi32(_mm_unpackhi_epi64(x, x));
#endif
  return r;
}
#endif
MANYSPAN_INLINE I load_i8(const void* p) {
  I r;
#if defined(MANYSPAN_ISA_avx512)
  r.v[0] = (NativeI)_mm512_cvtepi8_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p)));
#elif defined(MANYSPAN_ISA_avx2)
  const auto* bytes = static_cast<const char*>(p);
  r.v[0] = (NativeI)_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes)));
  r.v[1] = (NativeI)_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes + 8)));
#else
  std::int8_t c[kLanes];
  std::memcpy(c, p, sizeof c);
  MANYSPAN_EACH(i) r.v[i] = NativeI{c[4 * i], c[4 * i + 1], c[4 * i + 2], c[4 * i + 3]};
#endif
  return r;
}

// The low 16 (8) bits of each lane, packed.
MANYSPAN_INLINE void store_u16(I x, void* p) {
#if defined(MANYSPAN_ISA_avx512)
  _mm256_storeu_si256(static_cast<__m256i*>(p), _mm512_cvtepi32_epi16((__m512i)x.v[0]));
#elif defined(MANYSPAN_ISA_avx2)
  const __m256i mask = _mm256_set1_epi32(0xffff);
  const __m256i packed =
      _mm256_packus_epi32(_mm256_and_si256((__m256i)x.v[0], mask), _mm256_and_si256((__m256i)x.v[1], mask));
  _mm256_storeu_si256(static_cast<__m256i*>(p), _mm256_permute4x64_epi64(packed, 0xd8));
#else
  std::uint16_t u[kLanes];
  for (int i = 0; i < kLanes; ++i) u[i] = static_cast<std::uint16_t>(x.v[i / 4][i % 4]);
  std::memcpy(p, u, sizeof u);
#endif
}
MANYSPAN_INLINE void store_u8(I x, std::uint8_t* p) {
#if defined(MANYSPAN_ISA_avx512)
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8((__m512i)x.v[0]));
#else
  std::int32_t lanes[kLanes];
  std::memcpy(lanes, &x, sizeof x);
  for (int i = 0; i < kLanes; ++i) p[i] = static_cast<std::uint8_t>(lanes[i]);
#endif
}

MANYSPAN_INLINE F load(const Bf16* p) { return from_bits(shift_left<16>(load_u16(p))); }

// F16 in the low half of each lane; infinities and NaN stay what they are.
MANYSPAN_INLINE F from_half_bits(I h) {
  const I magnitude = h & all(0x7fff), sign = shift_left<16>(h & all(0x8000));
  const F number =
      from_bits(shift_left<13>(magnitude)) * all(0x1p112f);  // the product also makes subnormals whole
  const I beyond = max(magnitude - all(0x7bff), all(0));     // above zero for no number
  const I exponent = shift_left<13>(magnitude) | all(0x7f800000);
  const F either = where_less(to_f32(beyond), all(0.5f), number, from_bits(exponent));
  return from_bits(bits(either) | sign);
}
#if defined(MANYSPAN_ISA_avx512) || defined(MANYSPAN_ISA_avx2)
MANYSPAN_INLINE F f16_lanes(__m256i halves) {
  F r;
#if defined(MANYSPAN_ISA_avx512)
  r.v[0] = _mm512_cvtph_ps(halves);
#else
  r.v[0] = _mm256_cvtph_ps(_mm256_castsi256_si128(halves));
  r.v[1] = _mm256_cvtph_ps(_mm256_extracti128_si256(halves, 1));
#endif
  return r;
}
#endif
MANYSPAN_INLINE F load_f16(const void* p) {
#if defined(MANYSPAN_ISA_avx512) || defined(MANYSPAN_ISA_avx2)
  return f16_lanes(_mm256_loadu_si256(static_cast<const __m256i*>(p)));
#else
  return from_half_bits(load_u16(p));
#endif
}

// The bits of the nearest bf16, ties to even, in the upper half of each lane. No NaN.
MANYSPAN_INLINE I bf16_bits(F x) {
  const I u = bits(x);
  return (u + all(0x7fff) + (shift_right<16>(u) & all(1))) & all(static_cast<std::int32_t>(0xffff0000));
}
MANYSPAN_INLINE F round_bf16(F x) { return from_bits(bf16_bits(x)); }
MANYSPAN_INLINE void store(F x, Bf16* p) { store_u16(shift_right<16>(bf16_bits(x)), p); }

// The first n < 16 lanes; the others are zero, or left alone.
MANYSPAN_INLINE F load_first(const float* p, std::int64_t n) {
  float lanes[kLanes] = {};
  std::memcpy(lanes, p, static_cast<std::size_t>(n) * sizeof(float));
  return load(lanes);
}
MANYSPAN_INLINE F load_first(const Bf16* p, std::int64_t n) {
  Bf16 lanes[kLanes] = {};
  std::memcpy(lanes, p, static_cast<std::size_t>(n) * sizeof(Bf16));
  return load(lanes);
}
template <class T>
MANYSPAN_INLINE void store_first(F x, T* p, std::int64_t n) {
  T lanes[kLanes];
  store(x, lanes);
  std::memcpy(p, lanes, static_cast<std::size_t>(n) * sizeof(T));
}

// f(column, lanes) over n columns, sixteen at a time: what is read past the end is zero, nothing is written there.
template <class T>
MANYSPAN_INLINE F load_at(const T* row, std::int64_t at, std::int64_t n) {
  return at + kLanes <= n ? load(row + at) : load_first(row + at, n - at);
}
template <class T>
MANYSPAN_INLINE void store_at(F x, T* row, std::int64_t at, std::int64_t n) {
  if (at + kLanes <= n) {
    store(x, row + at);
  } else {
    store_first(x, row + at, n - at);
  }
}

// Lane i with lane i + 8, those with lane + 4, + 2, + 1: one order, whatever the machine.
MANYSPAN_INLINE float sum(F x) {
  float t[kLanes];
  store(x, t);
  for (int w = kLanes / 2; w > 0; w /= 2) {
    for (int i = 0; i < w; ++i) t[i] = t[i] + t[i + w];
  }
  return t[0];
}
MANYSPAN_INLINE float largest(F x) {
#if defined(MANYSPAN_ISA_avx512)
  return _mm512_reduce_max_ps(x.v[0]);
#elif defined(MANYSPAN_ISA_avx2)
  const __m256 a = _mm256_max_ps(x.v[0], x.v[1]);
  const __m128 b = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  const __m128 c = _mm_max_ps(b, _mm_movehl_ps(b, b));
  return _mm_cvtss_f32(_mm_max_ss(c, _mm_movehdup_ps(c)));
#else
  float t[kLanes];
  store(x, t);
  for (int i = 1; i < kLanes; ++i) t[0] = t[i] > t[0] ? t[i] : t[0];
  return t[0];
#endif
}

}  // namespace manyspan::kernels::MANYSPAN_ISA
