#include "kernels/round/round.h"

#include <algorithm>
#include <cmath>

#include "tensor/e8m0.h"
#include "tensor/fp4.h"
#include "tensor/fp8.h"

namespace manyspan::kernels {
namespace {

// Largest |x| of a group, raised to `least`.
float largest(const Bf16* x, std::int64_t n, float least) {
  for (std::int64_t i = 0; i < n; ++i) least = std::max(least, std::fabs(to_float(x[i])));
  return least;
}

std::uint8_t scale8(const Bf16* group) { return e8m0_ceil(largest(group, 32, 1e-4f) * (1.0f / kFp8Max)); }
std::uint8_t scale4_key(const Bf16* group) {
  return e8m0_ceil(largest(group, 32, kFp4Max * 0x1p-126f) * (1.0f / kFp4Max));
}
std::uint8_t scale4_row(const Bf16* group) {
  return float_to_fp8(largest(group, 16, kFp4Max * 0x1p-9f) / kFp4Max);
}

unsigned low_code(float x) { return float_to_fp4(std::clamp(x, -kFp4Max, kFp4Max)); }

// One group of E2M1 codes, two a byte, even column low.
void encode4(const Bf16* x, std::int64_t n, float scale, std::uint8_t* codes) {
  for (std::int64_t i = 0; i < n; i += 2) {
    const unsigned low = low_code(to_float(x[i]) / scale), high = low_code(to_float(x[i + 1]) / scale);
    codes[i / 2] = static_cast<std::uint8_t>(low | high << 4);
  }
}
void decode4(const std::uint8_t* codes, std::int64_t n, float scale, Bf16* x) {
  for (std::int64_t i = 0; i < n; i += 2) {
    x[i] = to_bf16(fp4_to_float(codes[i / 2] & 15u) * scale);
    x[i + 1] = to_bf16(fp4_to_float(codes[i / 2] >> 4u) * scale);
  }
}

}  // namespace

void grid8_row(Bf16* x, std::int64_t n) {
  for (std::int64_t g = 0; g < n; g += 32) {
    const float scale = e8m0_to_float(scale8(x + g));
    for (std::int64_t i = g; i < g + 32; ++i) {
      x[i] = to_bf16(fp8_to_float(float_to_fp8(to_float(x[i]) / scale)) * scale);
    }
  }
}

void grid8_encode(const Bf16* x, std::int64_t n, std::uint8_t* codes, std::uint8_t* scales) {
  for (std::int64_t g = 0; g < n; g += 32) {
    scales[g / 32] = scale8(x + g);
    const float scale = e8m0_to_float(scales[g / 32]);
    for (std::int64_t i = g; i < g + 32; ++i) codes[i] = float_to_fp8(to_float(x[i]) / scale);
  }
}

void grid8_decode(const std::uint8_t* codes, const std::uint8_t* scales, std::int64_t n, Bf16* x) {
  for (std::int64_t i = 0; i < n; ++i) {
    x[i] = to_bf16(fp8_to_float(codes[i]) * e8m0_to_float(scales[i / 32]));
  }
}

void grid4_row_encode(const Bf16* x, std::int64_t n, std::uint8_t* codes, std::uint8_t* scales) {
  for (std::int64_t g = 0; g < n; g += 16) {
    scales[g / 16] = scale4_row(x + g);
    encode4(x + g, 16, fp8_to_float(scales[g / 16]), codes + g / 2);
  }
}

void grid4_row_decode(const std::uint8_t* codes, const std::uint8_t* scales, std::int64_t n, Bf16* x) {
  for (std::int64_t g = 0; g < n; g += 16) decode4(codes + g / 2, 16, fp8_to_float(scales[g / 16]), x + g);
}

void grid4_key_encode(const Bf16* x, std::int64_t n, std::uint8_t* codes, std::uint8_t* scales) {
  for (std::int64_t g = 0; g < n; g += 32) {
    scales[g / 32] = scale4_key(x + g);
    encode4(x + g, 32, e8m0_to_float(scales[g / 32]), codes + g / 2);
  }
}

void grid4_key_decode(const std::uint8_t* codes, const std::uint8_t* scales, std::int64_t n, Bf16* x) {
  for (std::int64_t g = 0; g < n; g += 32) decode4(codes + g / 2, 32, e8m0_to_float(scales[g / 32]), x + g);
}

void grid4_key_row(Bf16* x, std::int64_t n) {
  for (std::int64_t g = 0; g < n; g += 32) {
    const float scale = e8m0_to_float(scale4_key(x + g));
    std::uint8_t codes[16];
    encode4(x + g, 32, scale, codes);
    decode4(codes, 32, scale, x + g);
  }
}

}  // namespace manyspan::kernels
