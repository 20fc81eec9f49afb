#include "model/carry.h"

#include "model/cache.h"

namespace manyspan {

Carry Carry::lay_out(const Blueprint& b, const Parts& parts, std::int64_t rows, Carver& c) {
  Carry carry{};
  const std::int64_t n = b.streams;
  carry.streams = c.rows<Bf16>(rows, n * b.hidden);
  carry.pre = c.rows<float>(rows, n);
  const auto numbers = [&](std::int64_t width) { return c.take<std::int32_t>(rows * width); };
  if (parts.selection) carry.selection = {numbers(b.index_rows), numbers(1), b.index_rows};
  if (parts.candidates) {
    carry.candidates = {numbers(b.candidate_blocks), numbers(1), b.candidate_blocks, b.candidate_block_rows};
  }
  for (const std::int32_t source : b.kv_sources) {
    const std::int64_t bytes = source_shape(b, {source}).row_bytes();
    carry.published.push_back(parts.published.contains(source)
                                  ? c.rows<std::byte>(rows, bytes)
                                  : Rows<std::byte>{nullptr, rows, bytes, bytes});
  }
  return carry;
}

}  // namespace manyspan
