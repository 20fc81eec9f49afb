// trial_matrix — matrices of every encoding for tests: random codes, scales that differ from block to block and row to
// row, signs of both kinds, no NaN.
#pragma once

#include <cmath>
#include <cstring>
#include <vector>

#include "tensor/bf16.h"
#include "tensor/weight.h"

namespace manyspan::kernels {

// A fixed stream of numbers.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : state_(seed * 2 + 1) {}

  std::uint32_t word() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(state_ >> 33) ^ static_cast<std::uint32_t>(state_ >> 57);
  }
  std::int32_t below(std::int32_t n) {
    return static_cast<std::int32_t>(word() % static_cast<std::uint32_t>(n));
  }
  // About normal, of spread one.
  float normal() {
    float sum = 0;
    for (int i = 0; i < 4; ++i) sum += static_cast<float>(word() & 0xffff) / 65536.0f - 0.5f;
    return sum * 1.7f;
  }
  float number(float mean, float spread) {
    const float x = mean + spread * normal();
    const std::int32_t odd = below(400);
    return odd == 0 ? 100 * x : odd == 1 ? 1000 * x : x;
  }
  std::vector<Bf16> bf16(std::int64_t count, float mean = 0.1f, float spread = 1) {
    std::vector<Bf16> v(static_cast<std::size_t>(count));
    for (Bf16& x : v) x = to_bf16(number(mean, spread));
    return v;
  }
  std::vector<float> f32(std::int64_t count, float mean = 0.1f, float spread = 1) {
    std::vector<float> v(static_cast<std::size_t>(count));
    for (float& x : v) x = mean + spread * normal();
    return v;
  }

 private:
  std::uint64_t state_;
};

// A weight and its bytes.
struct Matrix {
  Weight w = {};
  std::vector<std::byte> codes, scales;

  void point() { w.codes = codes.data(), w.scales = scales.empty() ? nullptr : scales.data(); }
};

inline std::vector<Encoding> every_encoding() {
  std::vector<Encoding> all;
  for (int e = 0; e < kEncodings; ++e) all.push_back(static_cast<Encoding>(e));
  return all;
}

// Columns that a row must have a multiple of; 1: any number.
inline std::int32_t whole_cols(Encoding e) {
  if (is_blocks(e)) return block_cols(e);
  return e == Encoding::nvfp4 ? 16 : e == Encoding::mxfp4 ? 32 : 1;
}

// Where a block has a scale in F16; -1: no more.
struct HalfPlaces {
  int at[2];
};
constexpr HalfPlaces half_places(Encoding e) {
  switch (e) {
    case Encoding::q2_k:
      return {80, 82};
    case Encoding::q3_k:
      return {108, -1};
    case Encoding::q4_k:
    case Encoding::q5_k:
      return {0, 2};
    case Encoding::q6_k:
      return {208, -1};
    case Encoding::mxfp4_ggml:
    case Encoding::nvfp4_ggml:
    case Encoding::fp8_b128:
    case Encoding::mxfp8_b256:
    case Encoding::row264:
      return {-1, -1};
    default:
      return {0, -1};
  }
}
// Its E8M0 scales: from where on, how many.
struct ScaleBytes {
  int first, count;
};
constexpr ScaleBytes e8m0_places(Encoding e) {
  if (e == Encoding::mxfp8_b256) return {0, 8};
  if (e == Encoding::row264) return {256, 8};
  return {0, e == Encoding::mxfp4_ggml || e == Encoding::fp8_b128 ? 1 : 0};
}
constexpr bool has_e4m3(Encoding e) {
  return code_bits(e) == 8 || e == Encoding::nvfp4_ggml || e == Encoding::fp8_b128 ||
         e == Encoding::mxfp8_b256 || e == Encoding::row264;
}

// Gives one block scales: halves near 2^half, E8M0 near `power`.
inline void set_block_scales(Chance& chance, Encoding e, std::byte* block, int half = -9, int power = 112) {
  for (const int at : half_places(e).at) {
    if (at < 0) continue;
    const int exponent = 15 + half + chance.below(4);
    const int code = (chance.below(4) == 0 ? 0x8000 : 0) | exponent << 10 | chance.below(1024);
    block[at] = static_cast<std::byte>(code & 255), block[at + 1] = static_cast<std::byte>(code >> 8);
  }
  const ScaleBytes e8m0 = e8m0_places(e);
  for (int i = 0; i < e8m0.count; ++i)
    block[e8m0.first + i] = static_cast<std::byte>(power + chance.below(9));
}

inline void set_factors(Chance& chance, const Weight& one, std::byte* scales) {
  if (!has_factors(one.encoding)) return;
  for (std::int32_t n = 0; n < one.rows; ++n) {
    const float factor = (0.5f + 0.001f * static_cast<float>(chance.below(1000))) / 256;
    std::memcpy(scales + factors_at(one) + 4 * n, &factor, 4);
  }
}

// `count` plain matrices, one behind the other.
inline Matrix plain_matrix(Chance& chance, Encoding encoding, std::int32_t rows, std::int32_t cols,
                           std::int32_t count = 1) {
  Matrix m;
  m.w.rows = rows, m.w.cols = cols, m.w.encoding = encoding;
  m.w.next_codes = code_bytes(m.w), m.w.next_scales = scale_bytes(m.w);
  m.codes.resize(static_cast<std::size_t>(m.w.next_codes * count));
  m.scales.resize(static_cast<std::size_t>(m.w.next_scales * count));
  for (std::byte& s : m.scales) s = static_cast<std::byte>(112 + chance.below(9));
  for (std::int32_t i = 0; i < count; ++i) set_factors(chance, m.w, m.scales.data() + i * m.w.next_scales);
  if (encoding == Encoding::fp8_block128_f32) {
    for (std::size_t i = 0; i < m.scales.size(); i += 4) {
      const float scale = chance.number(0.001f, 0.0003f);
      std::memcpy(m.scales.data() + i, &scale, 4);
    }
  }
  if (encoding == Encoding::f32 || encoding == Encoding::bf16) {
    const float spread = 1 / std::sqrt(static_cast<float>(cols));
    for (std::size_t i = 0; i < m.codes.size() / (code_bits(encoding) / 8); ++i) {
      const float x = chance.number(0.1f * spread, spread);
      const Bf16 b = to_bf16(x);
      if (encoding == Encoding::f32) std::memcpy(m.codes.data() + 4 * i, &x, 4);
      if (encoding == Encoding::bf16) std::memcpy(m.codes.data() + 2 * i, &b, 2);
    }
  } else {
    for (std::byte& c : m.codes) {
      auto code = static_cast<std::uint8_t>(chance.word());
      if (has_e4m3(encoding) && (code & 0x7f) == 0x7f) code = 0x12;  // no NaN
      c = static_cast<std::byte>(code);
    }
    for (std::size_t i = 1; encoding == Encoding::f16 && i < m.codes.size(); i += 2)
      m.codes[i] &= std::byte{0xab};
    const std::size_t bytes = block_bytes(encoding);
    for (std::size_t i = 0; is_blocks(encoding) && i < m.codes.size(); i += bytes) {
      set_block_scales(chance, encoding, m.codes.data() + i);
    }
  }
  m.point();
  return m;
}

// The rows of a plain matrix as they travel, one behind the other.
inline std::vector<std::uint8_t> lone_rows(const Weight& w) {
  const std::int64_t codes = row_code_bytes(w), each = lone_row_bytes(w.encoding, w.cols);
  const std::int64_t scales = w.encoding == Encoding::nvfp4 ? w.cols / 16
                              : has_factors(w.encoding)     ? 0
                                                            : scale_bytes(w) / w.rows;
  std::vector<std::uint8_t> packed(static_cast<std::size_t>(each * w.rows));
  for (std::int32_t n = 0; n < w.rows; ++n) {
    std::uint8_t* to = packed.data() + n * each;
    std::memcpy(to, w.codes + n * codes, codes);
    if (scales > 0) std::memcpy(to + codes, w.scales + n * scales, scales);
    if (has_factors(w.encoding)) std::memcpy(to + each - 4, w.scales + factors_at(w) + 4 * n, 4);
  }
  return packed;
}

}  // namespace manyspan::kernels
