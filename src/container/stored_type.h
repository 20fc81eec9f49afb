// StoredType — what one element of a stored tensor is, by the names that safetensors uses.
//
// Spec       containers.md A.1
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace manyspan {

enum class StoredType : std::uint8_t {
  // clang-format off
  boolean, u8, i8, i16, u16, f16, bf16, i32, u32, f32, i64, u64, f64, c64,
  f8_e4m3, f8_e5m2, f8_e8m0, f8_e4m3fnuz, f8_e5m2fnuz, f4, f6_e2m3, f6_e3m2,
  // clang-format on
};

std::string_view name(StoredType type);  // "F8_E4M3"
std::optional<StoredType> stored_type(std::string_view name);

// Of one element. Elements of under 8 bits are packed without gaps.
int bits(StoredType type);

}  // namespace manyspan
