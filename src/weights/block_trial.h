// block_trial — for tests: blocks of any encoding whose scales are sane and whose numbers are as good as random.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tensor/encoding.h"

namespace manyspan {

// Numbers that differ with every seed, the same on every machine.
class Scatter {
 public:
  explicit Scatter(std::uint64_t seed) : state_(seed * 2862933555777941757u + 3037000493u) {}
  std::uint32_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(state_ >> 33);
  }

 private:
  std::uint64_t state_;
};

// Where a block has F16 scales; the rest of its scales any code may be, but for NaN and the largest.
inline std::vector<int> halves_of(Encoding e) {
  switch (e) {
    case Encoding::q2_k:
      return {80, 82};
    case Encoding::q3_k:
      return {108};
    case Encoding::q4_k:
    case Encoding::q5_k:
      return {0, 2};
    case Encoding::q6_k:
      return {208};
    case Encoding::mxfp4_ggml:
    case Encoding::nvfp4_ggml:
    case Encoding::fp8_b128:
    case Encoding::mxfp8_b256:
    case Encoding::row264:
      return {};
    default:
      return {0};
  }
}

// Where a block has scales of one byte, and how many.
inline std::pair<int, int> byte_scales_of(Encoding e) {
  switch (e) {
    case Encoding::mxfp4_ggml:
    case Encoding::fp8_b128:
      return {0, 1};
    case Encoding::nvfp4_ggml:
      return {0, 4};
    case Encoding::mxfp8_b256:
      return {0, 8};
    case Encoding::row264:
      return {256, 8};
    default:
      return {0, 0};
  }
}

// One block of codes that differ with `scatter`, its scales 2^power (of nvfp4_ggml -3 to 3 at least; of others -12 to
// 12).
inline std::vector<std::byte> valid_block(Encoding e, Scatter& scatter, int power) {
  std::vector<std::byte> block(static_cast<std::size_t>(block_bytes(e)));
  const bool fp8 = e == Encoding::fp8_b128 || e == Encoding::mxfp8_b256 || e == Encoding::row264;
  for (std::byte& b : block) b = static_cast<std::byte>(scatter.next() & (fp8 ? 0xf7u : 0xffu));  // no NaN
  for (const int at : halves_of(e)) {
    const auto half = static_cast<std::uint16_t>((power + 15) << 10);
    block[static_cast<std::size_t>(at)] = static_cast<std::byte>(half & 0xff);
    block[static_cast<std::size_t>(at) + 1] = static_cast<std::byte>(half >> 8);
  }
  const auto [first, count] = byte_scales_of(e);
  for (int i = first; i < first + count; ++i) {
    const int code = e == Encoding::nvfp4_ggml ? (power + 7) << 3 : power + 127;
    block[static_cast<std::size_t>(i)] = static_cast<std::byte>(code);
  }
  return block;
}

}  // namespace manyspan
