// turn — the joint between two sublayers: expand the last one's output into the streams, then collapse and
// norm the next one's input. Either half may be absent.
//
//   X[t, j] ← bf16(post[t, j]·o[t] + Σ_i comb[t, i, j]·X[t, i])              when o is given
//   mean[t] = bf16(Σ_i X[t, i] / S)                                          when mean is given
//   u = bf16(Σ_i pre[t, i]·X[t, i]),  x = norm(u)·gain,  x8 = act8(x)         when pre is given
//
// Shapes     streams [T, S·D] bf16 in place · o, mean, x, x8 [T, D] bf16 · post, pre [T, S] f32 · comb [T,
//            S·S] f32, source stream first · gain [D] bf16
// Requires   x8 may be null (data) where nobody reads it; D a multiple of 32 when it is not
// Numerics   each output's products and sum in double → f32 → bf16; norm as spec 4.7
// Spec       model.md 6.1, 4.7, 4.2
#pragma once

#include "kernels/op.h"
#include "tensor/bf16.h"

namespace manyspan::kernels {

struct Turn {
  Rows<Bf16> streams;
  std::int32_t streams_count;  // S ≤ 8
  const std::int32_t* used;
  Rows<const Bf16> o;
  Rows<const float> post, comb;
  Rows<Bf16> mean;
  Rows<const float> pre;
  const Bf16* gain;
  float eps;
  Rows<Bf16> x, x8;

  template <class See>
  void views(See& see) {
    if (o.data != nullptr) {
      see.inout("streams", streams), see.in("o", o), see.in("post", post), see.in("comb", comb);
    } else {
      see.in("streams", streams);
      see.look("post", post.data, 0), see.look("comb", comb.data, 0);
    }
    see.look("used", used, 1), see.out("mean", mean), see.in("pre", pre);
    see.in("gain", gain, gain == nullptr ? 0 : x.cols), see.out("x", x), see.out("x8", x8);
  }
};
static_assert(kIsParams<Turn>);

// How far a fast x or stream may stray from the reference's: bf16 steps, beyond which the value itself is
// wrong.
inline constexpr int kTurnUlps = 2;

}  // namespace manyspan::kernels
