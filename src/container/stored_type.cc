#include "container/stored_type.h"

#include <array>

#include "base/check.h"

namespace manyspan {
namespace {

struct Row {
  StoredType type;
  std::string_view name;
  StoredBlock block;
};

constexpr StoredType kFirstInBlocks = StoredType::q4_0;

constexpr std::array kRows = {
    Row{StoredType::boolean, "BOOL", {1, 1}},
    Row{StoredType::u8, "U8", {1, 1}},
    Row{StoredType::i8, "I8", {1, 1}},
    Row{StoredType::i16, "I16", {1, 2}},
    Row{StoredType::u16, "U16", {1, 2}},
    Row{StoredType::f16, "F16", {1, 2}},
    Row{StoredType::bf16, "BF16", {1, 2}},
    Row{StoredType::i32, "I32", {1, 4}},
    Row{StoredType::u32, "U32", {1, 4}},
    Row{StoredType::f32, "F32", {1, 4}},
    Row{StoredType::i64, "I64", {1, 8}},
    Row{StoredType::u64, "U64", {1, 8}},
    Row{StoredType::f64, "F64", {1, 8}},
    Row{StoredType::c64, "C64", {1, 8}},
    Row{StoredType::f8_e4m3, "F8_E4M3", {1, 1}},
    Row{StoredType::f8_e5m2, "F8_E5M2", {1, 1}},
    Row{StoredType::f8_e8m0, "F8_E8M0", {1, 1}},
    Row{StoredType::f8_e4m3fnuz, "F8_E4M3FNUZ", {1, 1}},
    Row{StoredType::f8_e5m2fnuz, "F8_E5M2FNUZ", {1, 1}},
    Row{StoredType::f4, "F4", {2, 1}},
    Row{StoredType::f6_e2m3, "F6_E2M3", {4, 3}},
    Row{StoredType::f6_e3m2, "F6_E3M2", {4, 3}},
    Row{StoredType::q4_0, "Q4_0", {32, 18}},
    Row{StoredType::q8_0, "Q8_0", {32, 34}},
    Row{StoredType::q2_k, "Q2_K", {256, 84}},
    Row{StoredType::q3_k, "Q3_K", {256, 110}},
    Row{StoredType::q4_k, "Q4_K", {256, 144}},
    Row{StoredType::q5_k, "Q5_K", {256, 176}},
    Row{StoredType::q6_k, "Q6_K", {256, 210}},
    Row{StoredType::iq2_xxs, "IQ2_XXS", {256, 66}},
    Row{StoredType::iq3_xxs, "IQ3_XXS", {256, 98}},
    Row{StoredType::iq3_s, "IQ3_S", {256, 110}},
    Row{StoredType::iq4_nl, "IQ4_NL", {32, 18}},
    Row{StoredType::iq4_xs, "IQ4_XS", {256, 136}},
    Row{StoredType::mxfp4_ggml, "MXFP4", {32, 17}},
    Row{StoredType::nvfp4_ggml, "NVFP4", {64, 36}},
    Row{StoredType::fp8_b128, "F8_E4M3_B128", {128, 129}},
    Row{StoredType::mxfp8_b256, "MXFP8_B256", {256, 264}},
    Row{StoredType::q4_1, "Q4_1", {32, 20}},
    Row{StoredType::q5_0, "Q5_0", {32, 22}},
    Row{StoredType::q5_1, "Q5_1", {32, 24}},
    Row{StoredType::q8_1, "Q8_1", {32, 36}},
    Row{StoredType::q8_k, "Q8_K", {256, 292}},
    Row{StoredType::iq2_xs, "IQ2_XS", {256, 74}},
    Row{StoredType::iq1_s, "IQ1_S", {256, 50}},
    Row{StoredType::iq2_s, "IQ2_S", {256, 82}},
    Row{StoredType::iq1_m, "IQ1_M", {256, 56}},
    Row{StoredType::tq1_0, "TQ1_0", {256, 54}},
    Row{StoredType::tq2_0, "TQ2_0", {256, 66}},
    Row{StoredType::q1_0, "Q1_0", {128, 18}},
    Row{StoredType::q2_0, "Q2_0", {64, 18}},
};

constexpr bool rows_stand_at_their_types() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (kRows[i].type != static_cast<StoredType>(i)) return false;
  }
  return kRows.size() == static_cast<std::size_t>(StoredType::q2_0) + 1;
}
static_assert(rows_stand_at_their_types());

const Row& row(StoredType type) {
  const auto index = static_cast<std::size_t>(type);
  CHECK(index < kRows.size(), "no such StoredType");
  return kRows[index];
}

}  // namespace

std::string_view name(StoredType type) { return row(type).name; }

std::optional<StoredType> safetensors_type(std::string_view name) {
  for (const Row& row : kRows) {
    if (!in_blocks(row.type) && row.name == name) return row.type;
  }
  return std::nullopt;
}

StoredBlock block_of(StoredType type) { return row(type).block; }

bool in_blocks(StoredType type) { return type >= kFirstInBlocks; }

int bits(StoredType type) {
  CHECK(!in_blocks(type), "elements in blocks have no bits of their own");
  const StoredBlock block = row(type).block;
  return block.bytes * 8 / block.elements;
}

}  // namespace manyspan
