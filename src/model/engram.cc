#include "model/dims.h"
#include "model/layer_impl.h"
#include "model/linear_of.h"

namespace manyspan {

// Keys and value of the rows that were looked up: nothing of them waits for the streams.   spec 8.5
void Model::Layer::look_up_engram(std::size_t i, bool first) {
  const auto embed_tap = step.tap_rows<Bf16>("engram_embed", l, rows.rows, s.engram_e.cols);
  if (first || embed_tap.data != nullptr) step.fork();
  step.run_beside(step.k.engram_rows, {.packed = as_const(s.packed[i]),
                                       .batch = rows.batch,
                                       .columns = engram_columns(b),
                                       .dim = b.engram.head_dim,
                                       .encoding = w.engram_encoding,
                                       .y = s.engram_e,
                                       .embed_tap = embed_tap});
  step.run_beside(step.k.linear, linear_of(rows.batch.used, {product(s.engram_e, w.engram_kv, s.engram_kv)}));
}

// X ← X + gate · value                                                                spec 8.5
void Model::Layer::engram() {
  tap("x_before_engram", s.carry.streams);
  step.join();
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
