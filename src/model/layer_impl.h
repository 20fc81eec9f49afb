// Model::Layer — one layer of one step: what block.cc, attention.cc, experts.cc and engram.cc share.
#pragma once

#include "model/model.h"

namespace manyspan {

struct Model::Layer {
  const Model& m;
  const Blueprint& b;
  const PreparedLayer& w;
  const LayerSchedule& plan;
  LayerId l;
  Step& step;
  const StepRows& rows;
  Scratch& s;

  // Reads the streams with s.carry.pre and leaves its output in s.o, to be expanded with s.expert_mix.
  // `pending`: the layer before left such an output too.
  void block(bool pending);  // spec 6.1
  // Of a source: its rows and index keys, and nothing else of the layer.
  void publish(bool pending);
  void attention();  // spec 6.2 to 6.5: s.x, s.x8 → s.o
  void experts();    // spec 6.6: s.x, s.x8 → s.o
  // `first`: of the layers of this visit. Beside the others, whose mixes have waited for the rows to arrive.
  void look_up_engram(std::size_t i, bool first);
  void engram();  // spec 8.5: what was looked up, into the streams

  // The mean of the streams, for a draft model.                                        spec 6(b)
  void capture(const Rows<Bf16>& mean);

  // What this layer left in s.o, into the streams.
  void expand() { turn(&s.expert_mix, nullptr, nullptr); }
  // Expands what is pending into the streams, and collapses them with `pre` for the next sublayer.
  void turn(const MixRows* pending, const Rows<float>* pre, const Bf16* norm);
  void mix(const MixWeights& weights, const MixRows& to);

 private:
  void compress(kernels::Linear& down);
  void remember(bool source, bool window);
  void select();
  void project_out();

  kernels::Rope rope() const { return plan.ratio == 0 ? m.w.window_rope : m.w.compressed_rope; }
  kernels::SourceView source() const;

  template <class T>
  void tap(std::string_view name, const Rows<T>& from) {
    step.tap(name, l, from, rows.rows);
  }
};

}  // namespace manyspan
