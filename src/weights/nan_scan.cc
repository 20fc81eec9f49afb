#include "weights/nan_scan.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "tensor/f16.h"

namespace manyspan {
namespace {

// Blocks without a branch inside, so that the compiler makes vectors of them.
template <class Bits, class Bad>
std::optional<std::size_t> first(std::span<const std::byte> bytes, Bad bad) {
  constexpr std::size_t kBlock = 4096 / sizeof(Bits);
  const auto at = [&](std::size_t i) {
    Bits bits;
    std::memcpy(&bits, bytes.data() + i * sizeof(Bits), sizeof(Bits));
    return bits;
  };
  const std::size_t all = bytes.size() / sizeof(Bits);
  for (std::size_t from = 0; from < all; from += kBlock) {
    const std::size_t to = std::min(from + kBlock, all);
    Bits any = 0;
    for (std::size_t i = from; i < to; ++i) any |= static_cast<Bits>(bad(at(i)));
    if (any == 0) continue;
    for (std::size_t i = from; i < to; ++i) {
      if (bad(at(i))) return i;
    }
  }
  return std::nullopt;
}

// Whether all bits of the exponent are set.
template <class Bits>
std::optional<std::size_t> first_with_all_of(std::span<const std::byte> floats, Bits exponent) {
  return first<Bits>(floats, [=](Bits bits) { return static_cast<Bits>(bits & exponent) == exponent; });
}

}  // namespace

std::optional<std::size_t> first_e8m0_above(std::span<const std::byte> codes, std::uint8_t most) {
  return first<std::uint8_t>(codes, [=](std::uint8_t c) { return c > most; });
}

std::optional<std::size_t> first_fp8_nan(std::span<const std::byte> codes) {
  return first<std::uint8_t>(codes, [](std::uint8_t c) { return (c & 0x7f) == 0x7f; });
}

std::optional<std::size_t> first_unbounded_f32(std::span<const std::byte> floats) {
  return first_with_all_of<std::uint32_t>(floats, 0x7f800000u);
}

std::optional<std::size_t> first_unbounded_f16(std::span<const std::byte> floats) {
  return first_with_all_of<std::uint16_t>(floats, 0x7c00u);
}

std::optional<std::size_t> first_unbounded_bf16(std::span<const std::byte> floats) {
  return first_with_all_of<std::uint16_t>(floats, 0x7f80u);
}

std::optional<std::size_t> first_uneven_scale(std::span<const std::byte> floats) {
  return first<std::uint32_t>(floats, [](std::uint32_t bits) {
    const std::uint32_t exponent = bits >> 23;  // the sign is its top bit
    return (exponent == 0) | (exponent >= 255) | ((bits & 0x7fffffu) != 0);
  });
}

std::optional<std::size_t> first_scale_above(std::span<const std::byte> floats, std::uint8_t most) {
  return first<std::uint32_t>(floats, [=](std::uint32_t bits) { return bits >> 23 > most; });
}

std::optional<std::size_t> first_f32_beyond(std::span<const std::byte> floats, float largest) {
  return first<std::uint32_t>(floats, [=](std::uint32_t bits) {
    return (std::bit_cast<std::uint32_t>(std::bit_cast<float>(bits) * largest) & 0x7f800000u) == 0x7f800000u;
  });
}

std::optional<std::size_t> first_beyond_bf16(std::span<const std::byte> floats) {
  return first<std::uint32_t>(floats, [](std::uint32_t bits) { return (bits & 0xffffu) != 0; });
}

std::optional<std::size_t> first_f16_beyond_bf16(std::span<const std::byte> halves) {
  return first<std::uint16_t>(halves, [](std::uint16_t bits) {
    return (std::bit_cast<std::uint32_t>(f16_to_float(bits)) & 0xffffu) != 0;
  });
}

}  // namespace manyspan
