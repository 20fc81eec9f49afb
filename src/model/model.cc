#include "model/model.h"

#include <algorithm>

#include "model/layer_impl.h"
#include "model/linear_of.h"

namespace manyspan {

std::int64_t StepRows::tokens_after() const {
  std::int64_t most = 0;
  for (const kernels::Run& r : runs)
    most = std::max<std::int64_t>(most, std::int64_t{r.first.value} + r.rows);
  return most;
}

std::int64_t StepRows::groups_completed(std::int32_t ratio) const {
  std::int64_t groups = 0;
  for (const kernels::Run& r : runs) groups += (r.first.value + r.rows) / ratio - r.first.value / ratio;
  return groups;
}

// carry → carry                                                                       spec 6
void Model::run(Step& step, const StepRows& rows, const LayerRange& range, Depth depth, Scratch& s) const {
  s.carry.pre = s.entry_pre;
  if (range.first == 0) {
    step.run(step.k.embed, {.table = w.embed,
                            .batch = rows.batch,
                            .streams_count = b.streams,
                            .streams = s.carry.streams,
                            .pre = s.carry.pre});
  }
  bool pending = false;  // the layer before left its output in s.o
  for (std::int32_t l = range.first; l < range.end; ++l) {
    const LayerSchedule& plan = schedule.layers[l];
    Layer layer{*this, b, w.layers[l], plan, plan.layer, step, rows, s};
    const bool captured = plan.draft_target >= 0 && rows.main_hidden.data != nullptr;
    if (plan.engram >= 0) layer.look_up_engram(plan.engram, l == range.first);
    if (pending && (plan.engram >= 0 || captured)) {
      layer.expand();
      pending = false;
    }
    if (plan.engram >= 0) layer.engram();
    if (captured) {
      layer.capture(
          step.room_for(columns(rows.main_hidden, std::int64_t{plan.draft_target} * b.hidden, b.hidden)));
    }
    if (depth == Depth::rows && l == b.kv_sources.back()) {
      layer.publish(pending);
      return step.bring_taps_home();
    }
    layer.block(pending);
    pending = true;
  }
  const LayerSchedule& last = schedule.layers[range.end - 1];
  Layer{*this, b, w.layers[range.end - 1], last, last.layer, step, rows, s}.expand();
  if (range.end == b.layers) {
    step.tap("x_out", kNoLayer, s.carry.streams, rows.rows);
    step.tap("pre_out", kNoLayer, s.carry.pre, rows.rows);
    if (rows.sampled_rows != 0) head(step, rows, s);
  }
  step.bring_taps_home();
}

// z = norm(Σ pre · X),  logits = head · z                                             spec 6, end
void Model::head(Step& step, const StepRows& rows, Scratch& s) const {
  step.run(step.k.gather, {.streams = as_const(s.carry.streams),
                           .pre = as_const(s.carry.pre),
                           .rows = rows.sampled,
                           .count = rows.sampled_count,
                           .out_streams = s.last_streams,
                           .out_pre = s.last_pre});
  kernels::Turn turn{};
  turn.streams = s.last_streams;
  turn.streams_count = b.streams;
  turn.used = rows.sampled_count;
  turn.pre = as_const(s.last_pre);
  turn.gain = w.norm;
  turn.eps = b.norm_eps;
  turn.x = s.z;
  step.run(step.k.turn, turn);
  step.tap("final_norm", kNoLayer, s.z, rows.sampled_rows);
  step.run(step.k.linear, linear_of(rows.sampled_count, {product(s.z, w.head, s.logits)}));
}

}  // namespace manyspan
