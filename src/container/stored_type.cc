#include "container/stored_type.h"

#include <array>

#include "base/check.h"

namespace manyspan {
namespace {

struct Row {
  StoredType type;
  std::string_view name;
  int bits;
};

constexpr std::array kRows = {
    Row{StoredType::boolean, "BOOL", 8},
    Row{StoredType::u8, "U8", 8},
    Row{StoredType::i8, "I8", 8},
    Row{StoredType::i16, "I16", 16},
    Row{StoredType::u16, "U16", 16},
    Row{StoredType::f16, "F16", 16},
    Row{StoredType::bf16, "BF16", 16},
    Row{StoredType::i32, "I32", 32},
    Row{StoredType::u32, "U32", 32},
    Row{StoredType::f32, "F32", 32},
    Row{StoredType::i64, "I64", 64},
    Row{StoredType::u64, "U64", 64},
    Row{StoredType::f64, "F64", 64},
    Row{StoredType::c64, "C64", 64},
    Row{StoredType::f8_e4m3, "F8_E4M3", 8},
    Row{StoredType::f8_e5m2, "F8_E5M2", 8},
    Row{StoredType::f8_e8m0, "F8_E8M0", 8},
    Row{StoredType::f8_e4m3fnuz, "F8_E4M3FNUZ", 8},
    Row{StoredType::f8_e5m2fnuz, "F8_E5M2FNUZ", 8},
    Row{StoredType::f4, "F4", 4},
    Row{StoredType::f6_e2m3, "F6_E2M3", 6},
    Row{StoredType::f6_e3m2, "F6_E3M2", 6},
};

constexpr bool rows_stand_at_their_types() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (kRows[i].type != static_cast<StoredType>(i)) return false;
  }
  return true;
}
static_assert(rows_stand_at_their_types());

const Row& row(StoredType type) {
  const auto index = static_cast<std::size_t>(type);
  CHECK(index < kRows.size(), "no such StoredType");
  return kRows[index];
}

}  // namespace

std::string_view name(StoredType type) { return row(type).name; }

std::optional<StoredType> stored_type(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return row.type;
  }
  return std::nullopt;
}

int bits(StoredType type) { return row(type).bits; }

}  // namespace manyspan
