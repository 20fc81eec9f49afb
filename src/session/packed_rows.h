// packed_rows — a row of state as a snapshot holds it: the fields of a page's row, side by side, without
// padding.
//
// Spec       model.md 4.2 to 4.4, 7; docs/snapshot-format.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spec/blueprint.h"

namespace manyspan {

struct RowLayout {
  enum class Number : std::uint8_t { e2m1_pairs, e4m3, e8m0, f32 };
  struct Field {
    std::int64_t at, bytes;  // of a page's row 0; row r's is r · bytes further on
    Number number;
  };
  std::vector<Field> fields;
  std::int64_t page_rows, page_bytes;

  std::int64_t row_bytes() const;
};

RowLayout window_rows(const Blueprint& blueprint);  // one layer's key of a position
RowLayout source_rows(const Blueprint& blueprint);  // one source's row and index key of a group
RowLayout tail_rows(
    const Blueprint& blueprint);  // one source's compressor inputs of a position; a slot is a page

// Rows [first, first + rows) of a page, from it or into it. `packed` has their bytes.
void pack_rows(const RowLayout& layout, std::span<const std::byte> page, std::int64_t first,
               std::int64_t rows, std::span<std::byte> packed);
void unpack_rows(const RowLayout& layout, std::span<const std::byte> packed, std::int64_t first,
                 std::int64_t rows, std::span<std::byte> page);

// Whether every number of these packed rows is one: none is a NaN or infinite.
bool rows_are_finite(const RowLayout& layout, std::span<const std::byte> packed);

}  // namespace manyspan
