// engram_gate — lets the looked-up value into each stream as far as its key agrees with the stream.
//
//   key_i = kv[i·D ..], value = kv[S·D ..];  r = rsqrt(mean X_i² + eps)·rsqrt(mean key_i² + eps)
//   dot = (Σ X_i·(q_gain_i·k_gain_i)·key_i)·r·D^-½
//   gate = sigmoid(copysign(√max(|dot|, 1e-6), dot)), 0 on image spans;  X_i ← bf16(X_i + gate·value)
//
// Shapes     streams [T, S·D] bf16 in place · kv [T, (S + 1)·D] bf16 · q_gain, k_gain [S, D] bf16 ·
//            gate_tap [T, S] f32
// Numerics   Σ in double → f32 with w = f32(q·k); means in double → f32; then f32, op by op
// Spec       model.md 8.5; oracle recipe item 9
#pragma once

#include "kernels/batch_view.h"
#include "tensor/bf16.h"

namespace manyspan::kernels {

struct EngramGate {
  Rows<Bf16> streams;
  std::int32_t streams_count;
  BatchView batch;
  Rows<const Bf16> kv;
  const Bf16* q_gain;
  const Bf16* k_gain;
  float eps;
  Rows<float> gate_tap;

  template <class See>
  void views(See& see) {
    batch.views(see), see.inout("streams", streams), see.in("kv", kv);
    see.in("q_gain", q_gain, streams.cols), see.in("k_gain", k_gain, streams.cols);
    see.out("gate_tap", gate_tap);
  }
};
static_assert(kIsParams<EngramGate>);

inline constexpr int kEngramGateUlps = 2;  // bf16 steps of a stream element

}  // namespace manyspan::kernels
