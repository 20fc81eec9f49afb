// nan_scan — whether a run of numbers holds a NaN, an infinity or a scale that makes one, at the speed of memory.
//
// Each gives the place of the first one found. Floats are little-endian, at any alignment.
//
// Spec       quant_formats.md 1 "strict mode"
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace manyspan {

// The codes of 2^119 and 2^125: the largest scales whose product with the largest code, 448 or 6, F32 holds.
inline constexpr std::uint8_t kMostFp8Scale = 246, kMostFp4Scale = 252;
inline constexpr std::uint8_t kE8m0Nan = 0xff;

// An E8M0 code above `most`; a NaN is above every number.
std::optional<std::size_t> first_e8m0_above(std::span<const std::byte> codes, std::uint8_t most);

// An E4M3 NaN (0x7f or 0xff).
std::optional<std::size_t> first_fp8_nan(std::span<const std::byte> codes);

// A NaN or an infinity.
std::optional<std::size_t> first_unbounded_f32(std::span<const std::byte> floats);
std::optional<std::size_t> first_unbounded_f16(std::span<const std::byte> floats);
std::optional<std::size_t> first_unbounded_bf16(std::span<const std::byte> floats);

// An F32 that is no power of two from 2^-126 to 2^127.
std::optional<std::size_t> first_uneven_scale(std::span<const std::byte> floats);

// An F32 power of two that is above the one of E8M0 code `most`.
std::optional<std::size_t> first_scale_above(std::span<const std::byte> floats, std::uint8_t most);

// An F32 that is NaN or infinite, or becomes so times `largest`.
std::optional<std::size_t> first_f32_beyond(std::span<const std::byte> floats, float largest);

// An F32, or an F16, that BF16 does not hold exactly.
std::optional<std::size_t> first_beyond_bf16(std::span<const std::byte> floats);
std::optional<std::size_t> first_f16_beyond_bf16(std::span<const std::byte> halves);

}  // namespace manyspan
