#include "weights/nan_scan.h"

#include <algorithm>
#include <cstring>

namespace manyspan {
namespace {

// Blocks without a branch inside, so that the compiler makes vectors of them.
template <class Bad>
std::optional<std::size_t> first_byte(std::span<const std::byte> codes, Bad bad) {
  constexpr std::size_t kBlock = 4096;
  for (std::size_t from = 0; from < codes.size(); from += kBlock) {
    const std::size_t count = std::min(kBlock, codes.size() - from);
    std::uint8_t any = 0;
    for (std::size_t i = 0; i < count; ++i)
      any |= static_cast<std::uint8_t>(bad(static_cast<std::uint8_t>(codes[from + i])));
    if (any == 0) continue;
    for (std::size_t i = 0; i < count; ++i) {
      if (bad(static_cast<std::uint8_t>(codes[from + i]))) return from + i;
    }
  }
  return std::nullopt;
}

template <class Bad>
std::optional<std::size_t> first_float(std::span<const std::byte> floats, Bad bad) {
  for (std::size_t i = 0; i < floats.size() / 4; ++i) {
    std::uint32_t bits;
    std::memcpy(&bits, floats.data() + 4 * i, 4);
    if (bad(bits)) return i;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::size_t> first_e8m0_nan(std::span<const std::byte> codes) {
  return first_byte(codes, [](std::uint8_t c) { return c == 0xff; });
}

std::optional<std::size_t> first_fp8_nan(std::span<const std::byte> codes) {
  return first_byte(codes, [](std::uint8_t c) { return (c & 0x7f) == 0x7f; });
}

std::optional<std::size_t> first_uneven_scale(std::span<const std::byte> floats) {
  return first_float(floats, [](std::uint32_t bits) {
    const std::uint32_t exponent = bits >> 23;  // the sign is its top bit
    return exponent == 0 || exponent >= 255 || (bits & 0x7fffffu) != 0;
  });
}

std::optional<std::size_t> first_beyond_bf16(std::span<const std::byte> floats) {
  return first_float(floats, [](std::uint32_t bits) { return (bits & 0xffffu) != 0; });
}

}  // namespace manyspan
