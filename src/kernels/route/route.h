// route — gate logits to the chosen experts, their weights, and the work list that groups pairs by expert.
//
//   score = √softplus(logit / temperature),  softplus(z) = z > 20 ? z : log1p(exp z)
//   chosen: the best k by score + bias (bias_vl on image-span rows), ties to the lower id
//   weight = score / (Σ chosen scores + 1e-20) when normalised and k > 1, times route_scale
//
// Shapes     logits [T, E] f32 · bias, bias_vl [E] f32 · routes.expert, weight [T, k] in ascending expert id
//            · picks_tap, weights_tap [T, k] in picking order
// Numerics   softplus and sqrt in double → f32; the sum of chosen scores in f32, in picking order
// Spec       model.md 6.6
#pragma once

#include "kernels/batch_view.h"

namespace manyspan::kernels {

// Pairs (row t, choice j) are numbered t·k + j. plan = [E + 1] first place of each expert in the list (the
// last is the number of pairs), then the list: pair numbers grouped by expert, rows ascending in each.
struct Routes {
  std::int32_t* expert;  // [T, k]
  float* weight;         // [T, k]
  std::int32_t* plan;    // [E + 1 + T·k]
  std::int32_t k;        // experts a token
};

struct Route {
  Rows<const float> logits;
  const float* bias;
  const float* bias_vl;  // null: the model has no images
  BatchView batch;
  float temperature, route_scale;
  bool normalise;
  Routes out;
  Rows<std::int32_t> picks_tap;
  Rows<float> weights_tap;

  template <class See>
  void views(See& see) {
    batch.views(see), see.in("logits", logits), see.in("bias", bias, logits.cols);
    see.in("bias_vl", bias_vl, logits.cols);
    const std::int64_t pairs = std::int64_t{batch.rows} * out.k;
    see.out("out.expert", out.expert, pairs), see.out("out.weight", out.weight, pairs);
    see.out("out.plan", out.plan, logits.cols + 1 + pairs);
    see.out("picks_tap", picks_tap), see.out("weights_tap", weights_tap);
  }
};
static_assert(kIsParams<Route>);

// Relative difference of a weight that a fast table may show. Which experts are chosen must be equal.
inline constexpr float kRouteTolerance = 2e-6f;

}  // namespace manyspan::kernels
