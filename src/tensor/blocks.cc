#include "tensor/blocks.h"

#include "base/check.h"
#include "tensor/blocks_impl.h"
#include "tensor/e8m0.h"
#include "tensor/fp4.h"
#include "tensor/fp8.h"

namespace manyspan {
namespace {

unsigned nibble(unsigned byte, int high) { return byte >> (4 * high) & 15u; }

void mxfp4(const std::uint8_t* b, float* out) {
  const float scale = e8m0_to_float(b[0]);
  for (int e = 0; e < 32; ++e) out[e] = fp4_to_float(nibble(b[1 + e % 16], e / 16)) * scale;
}

void nvfp4(const std::uint8_t* b, float* out) {
  for (int e = 0; e < 64; ++e) {
    const int s = e / 16;
    const float scale = fp8_to_float(b[s] & 0x7f);
    out[e] = fp4_to_float(nibble(b[4 + 8 * s + e % 8], e % 16 / 8)) * scale;
  }
}

// `count` E4M3, of which each `cols` share a scale.
void e4m3(const std::uint8_t* codes, const std::uint8_t* scales, int count, int cols, float* out) {
  for (int e = 0; e < count; ++e) out[e] = fp8_to_float(codes[e]) * e8m0_to_float(scales[e / cols]);
}

}  // namespace

void decode_q4_0(const std::uint8_t* b, float* out) {
  const float d = half_at(b);
  for (int e = 0; e < 32; ++e) {
    out[e] = d * static_cast<float>(static_cast<int>(nibble(b[2 + e % 16], e / 16)) - 8);
  }
}

void decode_q8_0(const std::uint8_t* b, float* out) {
  const float d = half_at(b);
  for (int e = 0; e < 32; ++e) out[e] = d * static_cast<float>(static_cast<std::int8_t>(b[2 + e]));
}

void decode_block(Encoding e, const std::byte* block, float* out) {
  const auto* b = reinterpret_cast<const std::uint8_t*>(block);
  switch (e) {
    case Encoding::q4_0:
      return decode_q4_0(b, out);
    case Encoding::q8_0:
      return decode_q8_0(b, out);
    case Encoding::q2_k:
      return decode_q2_k(b, out);
    case Encoding::q3_k:
      return decode_q3_k(b, out);
    case Encoding::q4_k:
      return decode_q4_k(b, out);
    case Encoding::q5_k:
      return decode_q5_k(b, out);
    case Encoding::q6_k:
      return decode_q6_k(b, out);
    case Encoding::iq2_xxs:
      return decode_iq2_xxs(b, out);
    case Encoding::iq3_xxs:
      return decode_iq3_xxs(b, out);
    case Encoding::iq3_s:
      return decode_iq3_s(b, out);
    case Encoding::iq4_nl:
      return decode_iq4_nl(b, out);
    case Encoding::iq4_xs:
      return decode_iq4_xs(b, out);
    case Encoding::mxfp4_ggml:
      return mxfp4(b, out);
    case Encoding::nvfp4_ggml:
      return nvfp4(b, out);
    case Encoding::fp8_b128:
      return e4m3(b + 1, b, 128, 128, out);
    case Encoding::mxfp8_b256:
      return e4m3(b + 8, b, 256, 32, out);
    case Encoding::row264:
      return e4m3(b, b + 256, 256, 32, out);
    default:
      CHECK(false, "not an encoding of blocks");
  }
}

}  // namespace manyspan
