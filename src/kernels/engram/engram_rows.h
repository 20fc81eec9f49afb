// engram_rows — packed rows of the n-gram table to one bf16 row a token, on the FP8 grid.
//
//   e[t] = bf16(the `columns` table rows of token t, decoded and concatenated);  y = act8(e)
//
// Shapes     packed [T, columns·lone_row_bytes(encoding, dim)]: each row as tensor/weight.h's lone_row, so of the
//            released tables its codes [dim], then its scales [dim/32] · y [T, columns·dim] bf16 · tap: e
// Numerics   exact
// Spec       model.md 8.5
#pragma once

#include "kernels/batch_view.h"
#include "tensor/bf16.h"

namespace manyspan::kernels {

struct EngramRows {
  Rows<const std::uint8_t> packed;
  BatchView batch;
  std::int32_t columns, dim;  // dim a multiple of 32, and of whole blocks
  Encoding encoding;          // of the table; none whose scales several rows share
  Rows<Bf16> y;
  Rows<Bf16> embed_tap;

  template <class See>
  void views(See& see) {
    batch.views(see), see.in("packed", packed), see.out("y", y), see.out("embed_tap", embed_tap);
  }
};
static_assert(kIsParams<EngramRows>);

}  // namespace manyspan::kernels
