#include "tensor/block_scan.h"

#include "base/check.h"
#include "tensor/e8m0.h"

namespace manyspan {
namespace {

constexpr std::string_view kNoScale = "its scale is NaN", kEndless = "its scale is not finite",
                           kNoCode = "a code is NaN";
constexpr std::string_view kTooLarge8 = "its scale is above 2^119: F32 does not hold its product with 448";
constexpr std::string_view kTooLarge4 = "its scale is above 2^125: F32 does not hold its product with 6";

// Of `count` blocks of `bytes` each.
using Scan = std::optional<BadBlock> (*)(const std::uint8_t*, std::int64_t count, std::int64_t bytes);

// `Wrong` says what is wrong with a block; empty: nothing. A loop for each, so that it is no call for each block.
template <auto Wrong>
std::optional<BadBlock> scan(const std::uint8_t* at, std::int64_t count, std::int64_t bytes) {
  for (std::int64_t i = 0; i < count; ++i, at += bytes) {
    if (const std::string_view what = Wrong(at); !what.empty()) return BadBlock{i, what};
  }
  return std::nullopt;
}

bool endless(const std::uint8_t* half) { return (half[1] & 0x7c) == 0x7c; }

template <int... At>
std::string_view halves(const std::uint8_t* b) {
  return (endless(b + At) || ...) ? kEndless : std::string_view();
}

template <int Codes, int Count, int Scales, int ScaleCount>
std::string_view e4m3(const std::uint8_t* b) {
  for (int i = 0; i < ScaleCount; ++i) {
    const std::uint8_t scale = b[Scales + i];
    if (scale > 246) return scale == kE8m0Nan ? kNoScale : kTooLarge8;
  }
  unsigned any = 0;
  for (int i = 0; i < Count; ++i) any |= static_cast<unsigned>((b[Codes + i] & 0x7f) == 0x7f);
  return any != 0 ? kNoCode : std::string_view();
}

std::string_view mxfp4(const std::uint8_t* b) {
  if (b[0] <= 252) return {};
  return b[0] == kE8m0Nan ? kNoScale : kTooLarge4;
}

std::string_view nvfp4(const std::uint8_t* b) {
  for (int i = 0; i < 4; ++i) {
    if ((b[i] & 0x7f) == 0x7f) return kNoScale;
  }
  return {};
}

Scan scan_of(Encoding e) {
  switch (e) {
    case Encoding::q2_k:
      return scan<halves<80, 82>>;
    case Encoding::q3_k:
      return scan<halves<108>>;
    case Encoding::q4_k:
    case Encoding::q5_k:
      return scan<halves<0, 2>>;
    case Encoding::q6_k:
      return scan<halves<208>>;
    case Encoding::mxfp4_ggml:
      return scan<mxfp4>;
    case Encoding::nvfp4_ggml:
      return scan<nvfp4>;
    case Encoding::fp8_b128:
      return scan<e4m3<1, 128, 0, 1>>;
    case Encoding::mxfp8_b256:
      return scan<e4m3<8, 256, 0, 8>>;
    case Encoding::row264:
      return scan<e4m3<0, 256, 256, 8>>;
    default:
      return scan<halves<0>>;
  }
}

}  // namespace

std::optional<BadBlock> first_bad_block(Encoding e, std::span<const std::byte> bytes) {
  CHECK(is_blocks(e), "an encoding of blocks");
  const std::int64_t each = block_bytes(e);
  const auto* at = reinterpret_cast<const std::uint8_t*>(bytes.data());
  return scan_of(e)(at, static_cast<std::int64_t>(bytes.size()) / each, each);
}

}  // namespace manyspan
