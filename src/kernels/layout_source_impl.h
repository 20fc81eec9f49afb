// layout_source_impl — the plain matrix, or the two halves of one, that layout.cc rewrites: its rows as another
// encoding of the same numbers, and its scales where the other encoding wants them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/weight.h"

namespace manyspan::kernels {

// Whether two encodings differ in their scales at most.
constexpr bool same_codes(Encoding a, Encoding b) {
  return a == b || (code_bits(a) != 0 && code_bits(a) == code_bits(b));
}

struct Source {
  const Weight& first;
  const Weight* second = nullptr;  // null: there is one
  std::int64_t begin = 0;          // row of `first` that is row 0

  // The matrix in which row n lies, and the row's number there.
  struct At {
    const Weight& w;
    std::int64_t row;
  };
  At at(std::int64_t n) const {
    const bool in_first = second == nullptr || n < first.rows;
    return {in_first ? first : *second, in_first ? n + begin : n - first.rows};
  }
  const std::byte* row(std::int64_t n) const {
    const At a = at(n);
    return a.w.codes + a.row * row_code_bytes(a.w);
  }

  // The codes of row n in encoding `to`: row_code_bytes of it. With same_codes() they are row(n).
  void codes(std::int64_t n, Encoding to, std::byte* out) const;

  // The E8M0 scale of 32 columns from 32·group on.
  std::byte scale(std::int64_t n, std::int64_t group) const;
  // fp8_block128_f32: the F32 scale of 128 columns from 128·group on.
  float wide_scale(std::int64_t n, std::int64_t group) const;
  // nvfp4 and nvfp4_ggml: the row's.
  float factor(std::int64_t n) const;
};

}  // namespace manyspan::kernels
