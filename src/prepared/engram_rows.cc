#include "prepared/engram_rows.h"

#include <string>

#include "base/check.h"
#include "tensor/e8m0.h"

namespace manyspan {
namespace {

bool has_nan_code(const std::uint8_t* codes, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    if ((codes[i] & 0x7f) == 0x7f) return true;
  }
  return false;
}

bool has_nan_scale(const std::uint8_t* scales, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (scales[i] == kE8m0Nan) return true;
  }
  return false;
}

}  // namespace

Result<void> EngramTables::gather(std::size_t layer, std::span<const std::int64_t> rows,
                                  Rows<std::uint8_t> packed) const {
  const MatrixSource& table = *tables_[layer];
  const std::int64_t dim = table.cols, scales = dim / 32, row_bytes = dim + scales;
  CHECK(packed.cols % row_bytes == 0, "whole table rows in a packed row");
  const std::int64_t columns = packed.cols / row_bytes;
  CHECK(static_cast<std::int64_t>(rows.size()) == packed.rows * columns, "one table row for each place");
  for (std::int64_t t = 0; t < packed.rows; ++t) {
    for (std::int64_t c = 0; c < columns; ++c) {
      const std::int64_t row = rows[t * columns + c];
      CHECK(row >= 0 && row < table.rows, "a row of the table");
      std::uint8_t* to = packed.row(t) + c * row_bytes;
      TRY(weights_.read_rows(table, row, 1, {reinterpret_cast<std::byte*>(to), static_cast<std::size_t>(dim)},
                             {reinterpret_cast<std::byte*>(to + dim), static_cast<std::size_t>(scales)}));
      if (has_nan_code(to, dim) || has_nan_scale(to + dim, scales)) {
        return Error(Fault::corrupt, table.place + ": row " + std::to_string(row) + " holds a NaN");
      }
    }
  }
  return {};
}

}  // namespace manyspan
