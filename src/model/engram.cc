#include "model/dims.h"
#include "model/layer_impl.h"
#include "model/linear_of.h"

namespace manyspan {

// X ← X + gate · value                                                                spec 8.5
void Model::Layer::engram(std::size_t i) {
  tap("x_before_engram", s.carry.streams);
  step.run(step.k.engram_rows,
           {.packed = as_const(s.packed[i]),
            .batch = rows.batch,
            .columns = engram_columns(b),
            .dim = b.engram.head_dim,
            .y = s.engram_e,
            .embed_tap = step.tap_rows<Bf16>("engram_embed", l, rows.rows, s.engram_e.cols)});
  step.run(step.k.linear, linear_of(rows.batch.used, {product(s.engram_e, w.engram_kv, s.engram_kv)}));
  step.run(step.k.engram_gate, {.streams = s.carry.streams,
                                .streams_count = b.streams,
                                .batch = rows.batch,
                                .kv = as_const(s.engram_kv),
                                .q_gain = w.engram_q_gain,
                                .k_gain = w.engram_k_gain,
                                .eps = b.norm_eps,
                                .gate_tap = step.tap_rows<float>("engram_gate", l, rows.rows, b.streams)});
}

}  // namespace manyspan
