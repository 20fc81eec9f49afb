// StoredType — how the elements of a stored tensor are stored: one by one, or so many in a block of so many bytes.
//
// Names are those that the formats use: safetensors' types one by one, then ggml's types in blocks.
//
// Spec       containers.md A.1; quant_formats.md 3, 6
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace manyspan {

enum class StoredType : std::uint8_t {
  // clang-format off
  boolean, u8, i8, i16, u16, f16, bf16, i32, u32, f32, i64, u64, f64, c64,
  f8_e4m3, f8_e5m2, f8_e8m0, f8_e4m3fnuz, f8_e5m2fnuz, f4, f6_e2m3, f6_e3m2,

  q4_0, q8_0, q2_k, q3_k, q4_k, q5_k, q6_k, iq2_xxs, iq3_xxs, iq3_s, iq4_nl, iq4_xs, mxfp4_ggml, nvfp4_ggml,
  fp8_b128,    // E8M0, then 128 E4M3
  mxfp8_b256,  // eight E8M0, then 256 E4M3

  // Of known size, so that a file can be walked.
  q4_1, q5_0, q5_1, q8_1, q8_k, iq2_xs, iq1_s, iq2_s, iq1_m, tq1_0, tq2_0, q1_0, q2_0,
  // clang-format on
};

std::string_view name(StoredType type);  // "F8_E4M3"

// The type that safetensors calls so. None of those in blocks.
std::optional<StoredType> safetensors_type(std::string_view name);

// The least run of elements that is whole bytes.
struct StoredBlock {
  std::int32_t elements, bytes;
};
StoredBlock block_of(StoredType type);

// Whether elements share scales, so that a row must be whole blocks.
bool in_blocks(StoredType type);

// Of one element. Elements of under 8 bits are packed without gaps. Requires a type not in blocks.
int bits(StoredType type);

}  // namespace manyspan
