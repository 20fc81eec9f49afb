// mix — from the streams, how a sublayer reads them and writes back: pre, post, doubly stochastic comb.
//
//   v = all streams of a row,  m = (fn·v) / √(mean v² + eps)
//   pre_i  = sigmoid(m_i·scale_0 + base_i) + mix_eps             i < S
//   post_i = 2 sigmoid(m_{S+i}·scale_1 + base_{S+i})
//   comb   = Sinkhorn of C_ij = m_{2S+S·i+j}·scale_2 + base_{2S+S·i+j}: softmax over j + mix_eps, a column pass,
//            then iterations − 1 row and column passes, each divided by (sum + mix_eps)
//
// Shapes     streams [T, S·D] bf16 · fn [2S + S², S·D] f32 · base [2S + S²] · scale [3] · pre, post [T, S]
//            f32 · comb [T, S·S] f32, source stream first
// Numerics   dot and mean in double → f32; sigmoid and exp in double → f32; Sinkhorn sums in f32, left to
//            right
// Spec       model.md 6.1; oracle recipe items 2, 4, 6
#pragma once

#include "kernels/op.h"
#include "tensor/bf16.h"

namespace manyspan::kernels {

struct Mix {
  Rows<const Bf16> streams;
  std::int32_t streams_count;  // S ≤ 8
  const std::int32_t* used;
  Weight fn;
  const float* base;
  const float* scale;
  float eps, mix_eps;
  std::int32_t iterations;  // ≥ 1
  Rows<float> pre, post, comb;
  Work work;

  template <class See>
  void views(See& see) {
    see.in("streams", streams), see.look("used", used, 1), see.in("fn", fn), see.in("base", base, fn.rows);
    see.in("scale", scale, 3), see.out("pre", pre), see.out("post", post), see.out("comb", comb);
    see.work(work);
  }
};
static_assert(kIsParams<Mix>);

// Largest |difference| from the reference for inputs of usual size (pre, post, comb are of order one).
inline constexpr float kMixTolerance = 2e-5f;

}  // namespace manyspan::kernels
