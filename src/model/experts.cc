#include "model/layer_impl.h"
#include "model/linear_of.h"

namespace manyspan {

// MoE                                                                                 spec 6.6
void Model::Layer::experts() {
  step.run(step.k.linear, linear_of(rows.batch.used, {product(s.x, w.gate, s.gate)}));
  step.run(step.k.route,
           {.logits = as_const(s.gate),
            .bias = w.gate_bias,
            .bias_vl = w.gate_bias_images,
            .batch = rows.batch,
            .temperature = b.gate_temperature,
            .route_scale = b.route_scale,
            .normalise = b.normalise_routes,
            .out = s.routes,
            .picks_tap = step.tap_rows<std::int32_t>("experts", l, rows.rows, b.experts_per_token),
            .weights_tap = step.tap_rows<float>("expert_w", l, rows.rows, b.experts_per_token)});
  step.run(step.k.experts, {.x8 = as_const(s.x8),
                            .batch = rows.batch,
                            .routes = s.routes,
                            .expert_count = b.experts,
                            .gate_up = w.gate_up,
                            .up = w.up,
                            .down = w.down,
                            .shared_gate_up = w.shared_gate_up,
                            .shared_up = w.shared_up,
                            .shared_down = w.shared_down,
                            .place = nullptr,
                            .limit = b.swiglu_limit,
                            .y = s.o,
                            .work = {}});
}

}  // namespace manyspan
