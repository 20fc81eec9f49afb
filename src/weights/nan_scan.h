// nan_scan — whether a run of codes holds a NaN, at the speed of memory.
//
// Spec       quant_formats.md 1 "strict mode"
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace manyspan {

// Where the first E8M0 NaN (0xff) is.
std::optional<std::size_t> first_e8m0_nan(std::span<const std::byte> codes);

// Where the first E4M3 NaN (0x7f or 0xff) is.
std::optional<std::size_t> first_fp8_nan(std::span<const std::byte> codes);

// The place of the first of the floats (unaligned, little-endian) that is no power of two from 2^-126 to
// 2^127.
std::optional<std::size_t> first_uneven_scale(std::span<const std::byte> floats);

// The place of the first of the floats that BF16 does not hold exactly.
std::optional<std::size_t> first_beyond_bf16(std::span<const std::byte> floats);

}  // namespace manyspan
