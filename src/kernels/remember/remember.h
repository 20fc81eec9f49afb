// remember — what later tokens will need of these: window keys; at a KV source rows and index keys.
//
//   window[p]  = act8(rope(norm(k[t])·k_gain)) at position p
//   latent[j]  = norm(row)·row_gain, row = row[t] (ratio 1) or Σ_t a_t·softmax_t(g_t) over the
//                ratio tokens of group j (ratio > 1, softmax per column)
//   key[j]     = fp4(rope(norm(wk·latent[j])·key_gain)),  stored row[j] = fp4(rope(latent[j])),
//                both at position j·ratio
//
// A group's row is written by the run that holds its last token; a and g of the run's tokens go to the tail,
// and those of a group that began before the run are read from it.
//
// Shapes     k [T, head_dim] bf16, before the norm (data null: no window keys) · a, g [T, head_dim] f32 (ratio > 1) · row [T, head_dim]
//            bf16 (ratio 1) · wk [key_dim, head_dim] · published [T, source.row_bytes()], row t where batch row
//            t ends a group, the others untouched (data null: no other device reads this source) · taps: latent [T, head_dim] bf16, row n is the n-th
//            group that this batch completes, in batch order
// Requires   pages of all positions and rows written here are in the tables; source.pool null: window only
// Numerics   norm as spec 4.7; softmax denominator in f32 over tokens ascending, p = e/sum in f32, Σ in
//            double → f32 → bf16; the rounding points of spec 6.3 and 6.4
// Spec       model.md 6.2, 6.3, 6.4 (keys), 7; interfaces.md A7
#pragma once

#include "kernels/batch_view.h"
#include "kernels/pages.h"
#include "kernels/rope/rope.h"
#include "tensor/bf16.h"

namespace manyspan::kernels {

struct Remember {
  BatchView batch;
  float eps;
  Rope rope;
  Rows<const Bf16> k;
  const Bf16* k_gain;
  WindowView window;

  SourceView source;  // pool null: this layer is no source
  Rows<const float> a, g;
  Rows<const Bf16> row;
  const Bf16* row_gain;
  Weight wk;
  const Bf16* key_gain;
  TailView tail;
  Rows<std::byte> published;  // the rows and keys stored by this call, for append elsewhere

  Rows<Bf16> latent_tap;
  Work work;

  template <class See>
  void views(See& see) {
    batch.views(see), see.look("rope.frequency", rope.frequency, rope.dims / 2), see.work(work);
    see.some_inout("window.pool", window.pool), see.some_in("window.table", window.table.page);
    see.in("k", k), see.in("k_gain", k_gain, window.head_dim);
    see.some_inout("source.pool", source.pool), see.some_in("source.table", source.table.page);
    see.in("a", a), see.in("g", g), see.in("row", row);
    see.in("row_gain", row_gain, source.head_dim), see.in("wk", wk);
    see.in("key_gain", key_gain, source.key_dim), see.some_inout("tail", tail.a_g);
    see.out("published", published), see.out("latent_tap", latent_tap);
  }
};
static_assert(kIsParams<Remember>);

}  // namespace manyspan::kernels
