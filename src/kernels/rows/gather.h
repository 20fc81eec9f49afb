// gather — the listed rows of the carry, packed together: today the rows to sample.
//
// Shapes     streams [T, S·D] bf16, pre [T, S] f32 → out_streams [≥ *count, S·D], out_pre [≥ *count, S] ·
//            rows [capacity] i32
// Numerics   copies
#pragma once

#include "kernels/op.h"
#include "tensor/bf16.h"

namespace manyspan::kernels {

struct Gather {
  Rows<const Bf16> streams;
  Rows<const float> pre;
  const std::int32_t* rows;   // row numbers, each < T
  const std::int32_t* count;  // [1] how many are listed
  Rows<Bf16> out_streams;
  Rows<float> out_pre;

  template <class See>
  void views(See& see) {
    see.in("streams", streams), see.in("pre", pre), see.in("rows", rows, out_pre.rows);
    see.in("count", count, 1), see.out("out_streams", out_streams), see.out("out_pre", out_pre);
  }
};
static_assert(kIsParams<Gather>);

}  // namespace manyspan::kernels
