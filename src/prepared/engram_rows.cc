#include "prepared/engram_rows.h"

#include <atomic>
#include <string>

#include "base/check.h"
#include "tensor/e8m0.h"

namespace manyspan {
namespace {

bool has_nan_code(const std::uint8_t* codes, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if ((codes[i] & 0x7f) == 0x7f) return true;
  }
  return false;
}

bool has_nan_scale(const std::uint8_t* scales, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (scales[i] == kE8m0Nan) return true;
  }
  return false;
}

}  // namespace

Result<void> EngramTables::check() const {
  for (const MatrixSource* table : tables_) {
    if (table->encoding == Encoding::mxfp8 && table->scales_tensor != nullptr) continue;
    return Error(Fault::unsupported, table->place + ": an Engram table stored as " +
                                         std::string(name(table->encoding)) +
                                         " is not served yet; FP8 codes with a scale for 32 columns are");
  }
  return {};
}

Result<void> EngramTables::gather_token(const MatrixSource& table, std::span<const std::int64_t> rows,
                                        std::uint8_t* to) const {
  const auto dim = static_cast<std::size_t>(table.cols), scales = dim / 32;
  for (const std::int64_t row : rows) {
    CHECK(row >= 0 && row < table.rows, "a row of the table");
    auto* bytes = reinterpret_cast<std::byte*>(to);
    TRY(weights_.read_rows(table, row, 1, {bytes, dim}, {bytes + dim, scales}));
    if (has_nan_code(to, dim) || has_nan_scale(to + dim, scales)) {
      return Error(Fault::corrupt, table.place + ": row " + std::to_string(row) + " holds a NaN");
    }
    to += dim + scales;
  }
  return {};
}

Result<void> EngramTables::gather(std::size_t layer, std::span<const std::int64_t> rows,
                                  Rows<std::uint8_t> packed, Workers& workers) const {
  const MatrixSource& table = *tables_[layer];
  const std::int64_t row_bytes = table.cols + table.cols / 32;
  CHECK(packed.cols % row_bytes == 0, "whole table rows in a packed row");
  const std::int64_t columns = packed.cols / row_bytes;
  CHECK(static_cast<std::int64_t>(rows.size()) == packed.rows * columns, "one table row for each place");
  std::atomic<std::int64_t> failed{
      packed.rows};  // the first token that could not be read, whatever thread met it
  workers.for_each(packed.rows, [&](std::int64_t t, int) {
    if (gather_token(table, rows.subspan(t * columns, columns), packed.row(t)).ok()) return;
    std::int64_t first = failed.load();
    while (t < first && !failed.compare_exchange_weak(first, t)) {
    }
  });
  const std::int64_t t = failed.load();
  if (t == packed.rows) return {};
  return gather_token(table, rows.subspan(t * columns, columns), packed.row(t));  // again, for its message
}

}  // namespace manyspan
