// embed — token rows into the residual streams, and the one-hot mix that layer 0 starts with.
//
//   streams[t, s] = table[ids[t]] for every stream s,  pre[t] = (1, 0, ..., 0)
//
// Shapes     table [vocab, D] · streams [T, S·D] bf16 · pre [T, S] f32
// Numerics   exact
// Spec       model.md 6.0
#pragma once

#include "kernels/batch_view.h"
#include "tensor/bf16.h"

namespace manyspan::kernels {

struct Embed {
  Weight table;
  BatchView batch;
  std::int32_t streams_count;  // S
  Rows<Bf16> streams;
  Rows<float> pre;

  template <class See>
  void views(See& see) {
    batch.views(see), see.some_in("table", table), see.out("streams", streams), see.out("pre", pre);
  }
};
static_assert(kIsParams<Embed>);

}  // namespace manyspan::kernels
