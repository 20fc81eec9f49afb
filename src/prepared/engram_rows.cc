#include "prepared/engram_rows.h"

#include <atomic>
#include <cstring>
#include <optional>
#include <string>

#include "base/check.h"
#include "tensor/weight.h"
#include "weights/matrix_scan.h"

namespace manyspan {
namespace {

std::int64_t row_bytes_of(const MatrixSource& table) {
  return lone_row_bytes(table.encoding, static_cast<std::int32_t>(table.cols));
}

}  // namespace

std::vector<std::int64_t> EngramTables::row_bytes() const {
  std::vector<std::int64_t> bytes;
  for (const MatrixSource* table : tables_) bytes.push_back(row_bytes_of(*table));
  return bytes;
}

Result<void> EngramTables::gather_token(const MatrixSource& table, std::span<const std::int64_t> rows,
                                        std::uint8_t* to) const {
  const auto cols = static_cast<std::int32_t>(table.cols);
  const auto packed = static_cast<std::size_t>(row_bytes_of(table));
  auto* bytes = reinterpret_cast<std::byte*>(to);
  const Weight shape = lone_row(table.encoding, cols, bytes);
  const auto codes = static_cast<std::size_t>(row_code_bytes(shape));
  const std::size_t scales =
      table.scales.empty() ? 0 : table.scales.size() / static_cast<std::size_t>(table.rows);
  const auto factor = codes + static_cast<std::size_t>(factors_at(shape));
  for (const std::int64_t row : rows) {
    CHECK(row >= 0 && row < table.rows, "a row of the table");
    const std::span<std::byte> own_codes(bytes, codes), own_scales(bytes + codes, scales);
    TRY(weights_.read_rows(table, row, 1, own_codes, own_scales));
    std::optional<BadNumber> bad = first_bad_number(table, Plane::codes, own_codes);
    if (!bad && scales > 0) bad = first_bad_number(table, Plane::scales, own_scales);
    if (bad) {
      return Error(Fault::corrupt, table.place + ": row " + std::to_string(row) + ": " +
                                       std::string(bad->kind) + " " + std::to_string(bad->at) + bad->what);
    }
    if (has_factors(table.encoding)) std::memcpy(bytes + factor, &table.factor, sizeof table.factor);
    bytes += packed;
  }
  return {};
}

Result<void> EngramTables::gather(std::size_t layer, std::span<const std::int64_t> rows,
                                  Rows<std::uint8_t> packed, Workers& workers) const {
  const MatrixSource& table = *tables_[layer];
  const std::int64_t row_bytes = row_bytes_of(table);
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
