#include "model/layer_impl.h"

namespace manyspan {

// X, pre → X, pre                                                                     spec 6.1
void Model::Layer::block(bool pending) {
  turn(pending ? &s.expert_mix : nullptr, &s.carry.pre,
       w.attention_norm);  // with the mix of the layer before
  tap("x_in", s.carry.streams);
  tap("pre_in", s.carry.pre);
  tap("attn_in", s.x);
  mix(w.attention_mix, s.attention_mix);
  attention();
  tap("attn_post", s.attention_mix.post);
  tap("attn_comb", s.attention_mix.comb);
  tap("attn_out", s.o);

  turn(&s.attention_mix, &s.attention_mix.pre, w.expert_norm);
  tap("x_mid", s.carry.streams);
  tap("pre_mid", s.attention_mix.pre);
  tap("ffn_in", s.x);
  mix(w.expert_mix, s.expert_mix);
  experts();
  step.join();
  tap("ffn_out", s.o);
  s.carry.pre = s.expert_mix.pre;
}

void Model::Layer::turn(const MixRows* pending, const Rows<float>* pre, const Bf16* norm) {
  kernels::Turn p{};
  p.streams = s.carry.streams;
  p.streams_count = b.streams;
  p.used = rows.batch.used;
  if (pending != nullptr) {
    p.o = as_const(s.o);
    p.post = as_const(pending->post);
    p.comb = as_const(pending->comb);
  }
  if (pre != nullptr) {
    p.pre = as_const(*pre);
    p.gain = norm;
    p.eps = b.norm_eps;
    p.x = s.x;
    p.x8 = s.x8;
  }
  step.run(step.k.turn, p);
}

void Model::Layer::capture(const Rows<Bf16>& mean) {
  kernels::Turn p{};
  p.streams = s.carry.streams;
  p.streams_count = b.streams;
  p.used = rows.batch.used;
  p.mean = mean;
  step.run(step.k.turn, p);
}

void Model::Layer::mix(const MixWeights& weights, const MixRows& to) {
  step.fork();
  step.run_beside(step.k.mix, {.streams = as_const(s.carry.streams),
                               .streams_count = b.streams,
                               .used = rows.batch.used,
                               .fn = weights.fn,
                               .base = weights.base,
                               .scale = weights.scale,
                               .eps = b.norm_eps,
                               .mix_eps = b.mix_eps,
                               .iterations = b.sinkhorn_iterations,
                               .pre = to.pre,
                               .post = to.post,
                               .comb = to.comb,
                               .work = {}});
}

}  // namespace manyspan
