// Blocks of 256 whose scales are themselves small integers: Q2_K to Q6_K. e is the column within the block.
#include "tensor/blocks_impl.h"

namespace manyspan {
namespace {

float number(int x) { return static_cast<float>(x); }

// Scale and minimum of 32 columns, six bits each.
struct Pair {
  int scale, least;
};
Pair six_bit_pair(const std::uint8_t* c, int j) {
  if (j < 4) return {c[j] & 63, c[j + 4] & 63};
  return {(c[j + 4] & 15) | (c[j - 4] >> 6) << 4, (c[j + 4] >> 4) | (c[j] >> 6) << 4};
}

}  // namespace

void decode_q2_k(const std::uint8_t* b, float* out) {
  const float d = half_at(b + 80), m = half_at(b + 82);
  for (int e = 0; e < 256; ++e) {
    const int q = b[16 + 32 * (e / 128) + e % 32] >> (2 * (e % 128 / 32)) & 3, scale = b[e / 16];
    const float step = d * number(scale & 15), least = m * number(scale >> 4);
    out[e] = step * number(q) - least;
  }
}

void decode_q3_k(const std::uint8_t* b, float* out) {
  const float d = half_at(b + 108);
  const std::uint8_t* c = b + 96;
  for (int e = 0; e < 256; ++e) {
    const int j = e % 128 / 32, s = e / 16;
    const int low = b[32 + 32 * (e / 128) + e % 32] >> (2 * j) & 3;
    const int q = (b[e % 32] >> (4 * (e / 128) + j) & 1) != 0 ? low : low - 4;
    const int scale_low = s < 8 ? c[s] & 15 : c[s - 8] >> 4, scale_high = c[8 + s % 4] >> (2 * (s / 4)) & 3;
    out[e] = d * number((scale_low | scale_high << 4) - 32) * number(q);
  }
}

void decode_q4_k(const std::uint8_t* b, float* out) {
  const float d = half_at(b), m = half_at(b + 2);
  for (int e = 0; e < 256; ++e) {
    const Pair p = six_bit_pair(b + 4, e / 32);
    const int q = b[16 + 32 * (e / 64) + e % 32] >> (4 * (e / 32 % 2)) & 15;
    const float step = d * number(p.scale), least = m * number(p.least);
    out[e] = step * number(q) - least;
  }
}

void decode_q5_k(const std::uint8_t* b, float* out) {
  const float d = half_at(b), m = half_at(b + 2);
  for (int e = 0; e < 256; ++e) {
    const Pair p = six_bit_pair(b + 4, e / 32);
    const int low = b[48 + 32 * (e / 64) + e % 32] >> (4 * (e / 32 % 2)) & 15;
    const int q = low | (b[16 + e % 32] >> (e / 32) & 1) << 4;
    const float step = d * number(p.scale), least = m * number(p.least);
    out[e] = step * number(q) - least;
  }
}

void decode_q6_k(const std::uint8_t* b, float* out) {
  const float d = half_at(b + 208);
  for (int e = 0; e < 256; ++e) {
    const int n = e / 128, k = e % 128 / 32, l = e % 32;
    const int low = b[64 * n + 32 * (k & 1) + l] >> (4 * (k >> 1)) & 15,
              high = b[128 + 32 * n + l] >> (2 * k) & 3;
    out[e] = d * number(static_cast<std::int8_t>(b[192 + e / 16])) * number((low | high << 4) - 32);
  }
}

}  // namespace manyspan
