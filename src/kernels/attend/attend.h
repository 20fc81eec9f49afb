// attend — every head over the window and the selected rows, with a sink; rotated in, rotated back out.
//
//   list = window positions max(0, p - window + 1)..p, padded with absent ones to `window` entries, then the
//          selected rows ascending; blocks of 64 in list order
//   per block: s = (q·k)·scale, m' = max(m, max s), c = exp(m - m'), P = exp(s - m'),
//              l ← l·c + Σ P,  acc ← acc·c + Σ bf16(P)·v,  m = m'
//   o = bf16(acc / (l + exp(sink - m))), then the inverse rope of its last columns
//
// Shapes     q [T, heads·head_dim] bf16, before rope · sink [heads] f32 · o, core_tap [T, heads·head_dim]
//            bf16 (core_tap: before the inverse rope)
// Requires   the window rows of this batch are remembered already; source.ratio 0: window only
// Numerics   model.md 6.5 and recipe item 7: s double → f32, ·scale f32; l and acc in double → f32 once a
//            block; m starts at -1e30, a list with nothing in it gives 0
// Spec       model.md 6.2, 6.5; interfaces.md A8
#pragma once

#include "kernels/batch_view.h"
#include "kernels/pages.h"
#include "kernels/rope/rope.h"
#include "tensor/bf16.h"

namespace manyspan::kernels {

struct Attend {
  Rows<const Bf16> q;
  std::int32_t heads;
  std::int32_t window_rows;  // sliding_window
  float scale;               // head_dim^-0.5
  BatchView batch;
  WindowView window;
  SourceView source;
  Selection selected;
  Rope rope;
  const float* sink;
  Rows<Bf16> o;
  Rows<Bf16> core_tap;
  Work work;

  template <class See>
  void views(See& see) {
    batch.views(see), see.look("rope.frequency", rope.frequency, rope.dims / 2);
    see.some_in("window.pool", window.pool), see.some_in("window.table", window.table.page);
    see.some_in("source.pool", source.pool), see.some_in("source.table", source.table.page);
    see.in("q", q), see.in("sink", sink, heads);
    const std::int64_t selects = source.ratio == 0 ? 0 : batch.rows;
    see.in("selected.rows", selected.rows, selects * selected.width);
    see.in("selected.count", selected.count, selects);
    see.out("o", o), see.out("core_tap", core_tap), see.work(work);
  }
};
static_assert(kIsParams<Attend>);

// Relative L2 error of one head's output row that a fast table may show.
inline constexpr float kAttendTolerance = 1e-2f;
inline constexpr int kAttendBlock = 64;

}  // namespace manyspan::kernels
