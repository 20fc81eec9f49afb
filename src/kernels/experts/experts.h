// experts — the chosen experts' SwiGLU and the shared one's, summed in ascending expert id.
//
//   g = bf16(w1·x8), u = bf16(w3·x8); u clamped to ±limit, g to ≤ limit (limit > 0); a = silu(g)·u, times the
//   route's weight (chosen experts only); y_e = bf16(w2·act8(bf16(a)));  y = bf16(Σ_e y_e + y_shared)
//
// Shapes     x8 [T, D] bf16 on the grid · gate_up [E][2·inner, D]: w1's rows, then w3's · down [E][D, inner]
//            · shared_gate_up, shared_down: one of the same shapes · y [T, D] bf16. Where w1 and w3 are stored in
//            different encodings, gate_up is w1 alone, [E][inner, D], and `up` is w3; else `up` has no rows
// Requires   place[e] ≥ 0: one device holds all experts (whoever fills place sees to it: it lies on the
//            device, where refuses() can't look); inner and D multiples of 32
// Numerics   products as linear; silu in double → f32, ·u and ·weight in f32; the sum over experts in f32
// Spec       model.md 6.6; interfaces.md A11
#pragma once

#include "kernels/batch_view.h"
#include "kernels/route/route.h"
#include "tensor/bf16.h"

namespace manyspan::kernels {

struct Experts {
  Rows<const Bf16> x8;
  BatchView batch;
  Routes routes;
  std::int32_t expert_count;  // E
  Weight gate_up, up, down;
  Weight shared_gate_up, shared_up, shared_down;
  const std::int32_t* place;  // [E] which matrix of gate_up and down; null: expert e is matrix e
  float limit;                // swiglu_limit; 0: none
  Rows<Bf16> y;
  Work work;

  template <class See>
  void views(See& see) {
    batch.views(see), see.in("x8", x8), see.in("shared_gate_up", shared_gate_up);
    see.in("shared_up", shared_up), see.in("shared_down", shared_down);
    see.in("place", place, expert_count);
    const std::int64_t pairs = std::int64_t{batch.rows} * routes.k;
    see.in("routes.expert", routes.expert, pairs), see.in("routes.weight", routes.weight, pairs);
    see.in("routes.plan", routes.plan, expert_count + 1 + pairs);
    see.in("gate_up", gate_up), see.in("up", up), see.in("down", down), see.out("y", y), see.work(work);
  }
};
static_assert(kIsParams<Experts>);

// Relative L2 error of one output row that a fast table may show (a flip of one FP8 code of `a` is inside
// it).
inline constexpr float kExpertsTolerance = 1e-2f;

}  // namespace manyspan::kernels
