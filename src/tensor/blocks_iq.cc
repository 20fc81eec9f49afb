// Blocks whose codes choose points of a codebook, or levels that are not evenly spaced. e is the column within the
// block.
#include <bit>

#include "tensor/blocks_impl.h"
#include "tensor/codebooks.h"

namespace manyspan {
namespace {

std::uint32_t word_at(const std::uint8_t* b) {
  return b[0] | std::uint32_t{b[1]} << 8 | std::uint32_t{b[2]} << 16 | std::uint32_t{b[3]} << 24;
}

// Eight signs from seven bits: the eighth makes the count of minus signs even.
bool minus(std::uint32_t seven, int j) {
  return j == 7 ? std::popcount(seven) % 2 != 0 : (seven >> j & 1u) != 0;
}

float with_sign(bool negative, float x) { return negative ? -x : x; }

}  // namespace

void decode_iq2_xxs(const std::uint8_t* b, float* out) {
  const float d = half_at(b);
  for (int e = 0; e < 256; ++e) {
    const std::uint8_t* group = b + 2 + 8 * (e / 32);
    const std::uint32_t a = word_at(group + 4);
    const int l = e % 32 / 8, j = e % 8;
    const float scale = d * (0.5f + static_cast<float>(a >> 28)) * 0.25f;
    const float size = kIq2XxsLevels[kIq2XxsPoints[group[l]] >> (kIq2Bits * j) & 3];
    out[e] = with_sign(minus(a >> (7 * l) & 127u, j), scale * size);
  }
}

void decode_iq3_xxs(const std::uint8_t* b, float* out) {
  const float d = half_at(b);
  for (int e = 0; e < 256; ++e) {
    const std::uint32_t a = word_at(b + 66 + 4 * (e / 32));
    const float scale = d * (0.5f + static_cast<float>(a >> 28)) * 0.5f;
    const float size = kIq3XxsLevels[kIq3XxsPoints[b[2 + e / 4]] >> (kIq3Bits * (e % 4)) & 7];
    out[e] = with_sign(minus(a >> (7 * (e % 32 / 8)) & 127u, e % 8), scale * size);
  }
}

void decode_iq3_s(const std::uint8_t* b, float* out) {
  const float d = half_at(b);
  for (int e = 0; e < 256; ++e) {
    const int g = e / 32, t = e % 32 / 4;
    const int index = b[2 + 8 * g + t] | (b[66 + g] >> t & 1) << 8;
    const float scale = d * static_cast<float>(1 + 2 * (b[106 + g / 2] >> (4 * (g & 1)) & 15));
    const float size = kIq3SLevels[kIq3SPoints[index] >> (kIq3Bits * (e % 4)) & 7];
    out[e] = with_sign((b[74 + e / 8] >> (e % 8) & 1) != 0, scale * size);
  }
}

void decode_iq4_nl(const std::uint8_t* b, float* out) {
  const float d = half_at(b);
  for (int e = 0; e < 32; ++e)
    out[e] = d * static_cast<float>(kIq4Levels[b[2 + e % 16] >> (4 * (e / 16)) & 15]);
}

void decode_iq4_xs(const std::uint8_t* b, float* out) {
  const float d = half_at(b);
  const int high = b[2] | b[3] << 8;
  for (int e = 0; e < 256; ++e) {
    const int s = e / 32;
    const int scale = (b[4 + s / 2] >> (4 * (s & 1)) & 15) | (high >> (2 * s) & 3) << 4;
    const float level = kIq4Levels[b[8 + 16 * s + e % 16] >> (4 * (e % 32 / 16)) & 15];
    out[e] = d * static_cast<float>(scale - 32) * level;
  }
}

}  // namespace manyspan
