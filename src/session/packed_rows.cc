#include "session/packed_rows.h"

#include <algorithm>
#include <cmath>

#include "base/bytes.h"
#include "base/check.h"
#include "kernels/pages.h"

namespace manyspan {
namespace {

using Number = RowLayout::Number;

bool is_finite(Number number, const std::byte* at, std::int64_t bytes) {
  const auto none_is = [&](auto bad) { return std::none_of(at, at + bytes, bad); };
  switch (number) {
    case Number::e2m1_pairs:
      return true;  // all sixteen codes are numbers
    case Number::e4m3:
      return none_is([](std::byte b) { return (b & std::byte{0x7f}) == std::byte{0x7f}; });
    case Number::e8m0:
      return none_is([](std::byte b) { return b == std::byte{0xff}; });
    case Number::f32:
      for (std::int64_t i = 0; i < bytes; i += sizeof(float)) {
        if (!std::isfinite(load_little_endian<float>(at + i))) return false;
      }
      return true;
  }
  return false;
}

}  // namespace

std::int64_t RowLayout::row_bytes() const {
  std::int64_t sum = 0;
  for (const Field& f : fields) sum += f.bytes;
  return sum;
}

RowLayout window_rows(const Blueprint& b) {
  const std::int64_t d = b.head_dim, scales = kernels::padded16(kernels::kWindowPageRows * d);
  return {.fields = {{0, d, Number::e4m3}, {scales, d / 32, Number::e8m0}},
          .page_rows = kernels::kWindowPageRows,
          .page_bytes = kernels::WindowView::layer_bytes(d)};
}

RowLayout source_rows(const Blueprint& b) {
  const kernels::SourceView page{
      .pool = nullptr, .table = {}, .ratio = 1, .head_dim = b.head_dim, .key_dim = b.index_dim};
  return {.fields = {{0, b.head_dim / 2, Number::e2m1_pairs},
                     {page.scales_at(), b.head_dim / 16, Number::e4m3},
                     {page.keys_at(), b.index_dim / 2, Number::e2m1_pairs},
                     {page.key_scales_at(), b.index_dim / 32, Number::e8m0}},
          .page_rows = kernels::kSourcePageRows,
          .page_bytes = page.page_bytes()};
}

RowLayout tail_rows(const Blueprint& b) {
  const std::int64_t bytes = std::int64_t{2} * b.head_dim * std::int64_t{sizeof(float)};
  return {.fields = {{0, bytes, Number::f32}},
          .page_rows = kernels::kTailTokens,
          .page_bytes = kernels::kTailTokens * bytes};
}

void pack_rows(const RowLayout& layout, std::span<const std::byte> page, std::int64_t first,
               std::int64_t rows, std::span<std::byte> packed) {
  CHECK(std::ssize(page) == layout.page_bytes && std::ssize(packed) == rows * layout.row_bytes(),
        "a page, and room for its rows");
  std::byte* to = packed.data();
  for (std::int64_t r = first; r < first + rows; ++r) {
    for (const RowLayout::Field& f : layout.fields) {
      to = std::copy_n(page.data() + f.at + r * f.bytes, f.bytes, to);
    }
  }
}

void unpack_rows(const RowLayout& layout, std::span<const std::byte> packed, std::int64_t first,
                 std::int64_t rows, std::span<std::byte> page) {
  CHECK(std::ssize(page) == layout.page_bytes && std::ssize(packed) == rows * layout.row_bytes(),
        "rows, and the page that they belong to");
  const std::byte* from = packed.data();
  for (std::int64_t r = first; r < first + rows; ++r) {
    for (const RowLayout::Field& f : layout.fields) {
      std::copy_n(from, f.bytes, page.data() + f.at + r * f.bytes);
      from += f.bytes;
    }
  }
}

bool rows_are_finite(const RowLayout& layout, std::span<const std::byte> packed) {
  for (const std::byte* at = packed.data(); at != packed.data() + packed.size();) {
    for (const RowLayout::Field& f : layout.fields) {
      if (!is_finite(f.number, at, f.bytes)) return false;
      at += f.bytes;
    }
  }
  return true;
}

}  // namespace manyspan
