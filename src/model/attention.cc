#include "model/dims.h"
#include "model/layer_impl.h"
#include "model/linear_of.h"

namespace manyspan {

// x → o                                                                               spec 6.2
void Model::Layer::attention() {
  const bool source = plan.is_kv_source, index = plan.is_index_source;
  auto down = linear_of(rows.batch.used, {product(s.x8, w.wq_a, s.qr), product(s.x8, w.wkv, s.k)});
  if (source) compress(down);
  if (index) down.parts[down.count++] = product(s.x, w.index_head_weights, s.index_w);
  step.run(step.k.linear, down);
  remember(source, true);

  auto up = linear_of(rows.batch.used, {product(s.qr, w.wq_b, s.q)});
  if (index) up.parts[up.count++] = product(s.qr, w.index_q, s.index_q);
  up.norm = w.q_norm;
  up.eps = b.norm_eps;
  up.grid_in = true;
  step.run(step.k.linear, up);

  step.join();
  if (index) select();
  step.run(step.k.attend, {.q = as_const(s.q),
                           .heads = b.heads,
                           .window_rows = b.window,
                           .scale = attention_scale(b),
                           .batch = rows.batch,
                           .window = m.cache.window(l),
                           .source = this->source(),
                           .selected = s.carry.selection,
                           .rope = rope(),
                           .sink = w.sink,
                           .o = s.heads,
                           .core_tap = step.tap_rows<Bf16>("attn_core", l, rows.rows, s.heads.cols),
                           .work = {}});
  project_out();
}

// The compressor's inputs, of which remember() makes rows and index keys.              spec 6.3
void Model::Layer::compress(kernels::Linear& down) {
  if (plan.ratio == 1) {
    down.parts[down.count++] = product(s.x, w.compress_kv, s.row);
  } else {
    down.parts[down.count++] = product(s.x, w.compress_kv, s.a);
    down.parts[down.count++] = product(s.x, w.compress_gate, s.g);
  }
}

// What layers above may read of positions that nobody else needs: rows and index keys.  spec 7
void Model::Layer::publish(bool pending) {
  turn(pending ? &s.expert_mix : nullptr, &s.carry.pre, w.attention_norm);
  auto down = linear_of(rows.batch.used, {});
  compress(down);
  step.run(step.k.linear, down);
  remember(true, false);
  step.join();
}

// Each group of heads through its own rows of wo_a, then all of them through wo_b.
void Model::Layer::project_out() {
  kernels::Linear each = linear_of(rows.batch.used, {});
  const std::int64_t in = s.heads.cols / b.o_groups, out = b.o_rank;
  for (std::int32_t g = 0; g < b.o_groups; ++g) {
    each.parts[each.count++] =
        product(columns(s.heads, g * in, in), w.wo_a[g], columns(s.groups, g * out, out));
  }
  each.grid_out = true;
  step.run(step.k.linear, each);
  step.run(step.k.linear, linear_of(rows.batch.used, {product(s.groups, w.wo_b, s.o)}));
}

// Window keys; at a source the rows and index keys of the groups that this step completes. spec 6.3, 6.4
void Model::Layer::remember(bool is_source, bool keeps_window) {
  kernels::Remember p{};
  p.batch = rows.batch;
  p.eps = b.norm_eps;
  p.rope = rope();
  if (keeps_window) p.k = as_const(s.k);
  p.k_gain = w.kv_norm;
  p.window = m.cache.window(l);
  if (is_source) {
    p.source = source();
    if (plan.ratio > 1) {
      p.a = as_const(s.a);
      p.g = as_const(s.g);
      p.tail = m.cache.tail(l);
    } else {
      p.row = as_const(s.row);
    }
    p.published = s.carry.published[source_index(b, l)];
    p.row_gain = w.compress_norm;
    p.wk = w.index_key;
    p.key_gain = w.index_key_norm;
    p.latent_tap = step.tap_rows<Bf16>("latent", l, rows.groups_completed(plan.ratio), b.head_dim);
  }
  step.fork();
  step.run_beside(step.k.remember, p);
}

// Index queries to rows, candidates on the way.                                       spec 6.4
void Model::Layer::select() {
  kernels::Select p{};
  p.q = as_const(s.index_q);
  p.head_weights = as_const(s.index_w);
  p.head_scale = index_scale(b);
  p.heads = b.index_heads;
  p.batch = rows.batch;
  p.source = source();
  p.rope = rope();
  p.read = p.write = s.carry.candidates;
  if (!plan.reads_candidates) p.read.blocks = nullptr;
  if (!plan.writes_candidates) p.write.blocks = nullptr;
  p.out = s.carry.selection;
  p.most_rows = rows.most_tokens / plan.ratio;
  p.query_tap = step.tap_rows<Bf16>("index_q", l, rows.rows, s.index_q.cols);
  p.weight_tap = step.tap_rows<Bf16>("index_w", l, rows.rows, s.index_w.cols);
  p.score_tap = step.tap_rows<Bf16>("index_score", l, rows.rows, rows.tokens_after() / plan.ratio);
  step.run(step.k.select, p);
  tap("selection", Rows<std::int32_t>{p.out.rows, rows.rows, p.out.width, p.out.width});
  tap("selection_count", Rows<std::int32_t>{p.out.count, rows.rows, 1, 1});
  if (!plan.writes_candidates) return;
  tap("cand_blocks", Rows<std::int32_t>{p.write.blocks, rows.rows, p.write.width, p.write.width});
  tap("cand_count", Rows<std::int32_t>{p.write.count, rows.rows, 1, 1});
}

kernels::SourceView Model::Layer::source() const {
  return plan.ratio == 0 ? kernels::SourceView{} : m.cache.source(plan.kv_source);
}

}  // namespace manyspan
