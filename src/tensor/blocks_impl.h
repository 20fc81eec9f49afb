// blocks_impl — the decoders that decode_block chooses from, and how they read halves.
#pragma once

#include <cstdint>

#include "tensor/f16.h"

namespace manyspan {

inline float half_at(const std::uint8_t* b) {
  return f16_to_float(static_cast<std::uint16_t>(b[0] | b[1] << 8));
}

void decode_q4_0(const std::uint8_t* b, float* out);
void decode_q8_0(const std::uint8_t* b, float* out);
void decode_q2_k(const std::uint8_t* b, float* out);
void decode_q3_k(const std::uint8_t* b, float* out);
void decode_q4_k(const std::uint8_t* b, float* out);
void decode_q5_k(const std::uint8_t* b, float* out);
void decode_q6_k(const std::uint8_t* b, float* out);
void decode_iq2_xxs(const std::uint8_t* b, float* out);
void decode_iq3_xxs(const std::uint8_t* b, float* out);
void decode_iq3_s(const std::uint8_t* b, float* out);
void decode_iq4_nl(const std::uint8_t* b, float* out);
void decode_iq4_xs(const std::uint8_t* b, float* out);

}  // namespace manyspan
