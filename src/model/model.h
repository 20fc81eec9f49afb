// Model — some layers of the text model, ready to run on one device.
//
// run() enqueues one visit of a step: a carry in, the carry of the last layer out; with the first layer ids in,
// with the last logits of the sampled rows out. Everything it calls is one struct and one verb of the table; the
// files block.cc, attention.cc, experts.cc and engram.cc each read as one section of the specification.
//
// Owns       nothing: weights, cache and scratch are lent by the stage
// Threads    the thread that owns the step's queues
// Spec       model.md 6, 8
#pragma once

#include <cstdint>
#include <span>

#include "model/cache.h"
#include "model/scratch.h"
#include "model/step.h"
#include "prepared/prepared.h"
#include "spec/blueprint.h"
#include "spec/layers.h"

namespace manyspan {

// Where one step's rows lie on the device, and what the host knows of them.
struct StepRows {
  kernels::BatchView batch;
  const std::int32_t* sampled;        // [R] row numbers, on the device
  const std::int32_t* sampled_count;  // [1]
  std::int32_t most_tokens;           // longest session that the stage may hold; sizes scratch
  // Read by taps only: kernels learn from the device what is there.
  std::int32_t rows, sampled_rows;
  std::span<const kernels::Run> runs;
  Rows<Bf16> main_hidden;  // on the host: what the draft model reads; no data when nobody wants it

  std::int64_t tokens_after() const;                        // of the longest session in the step
  std::int64_t groups_completed(std::int32_t ratio) const;  // by this step's rows, over all runs
};

// How far up a step's rows go.
enum class Depth : std::uint8_t {
  // Through every layer.
  all,
  // Up to the last KV source, of which only rows and index keys are made: for positions of which nothing above will
  // be read.
  rows,
};

class Model {
 public:
  Model(const Blueprint& blueprint, const Schedule& schedule, const Prepared& weights, const Cache& cache)
      : b(blueprint), schedule(schedule), w(weights), cache(cache) {}

  // The layers of `range` in order. The first of all reads ids; any other finds s.carry as the one before left it,
  // with s.carry.pre in s.entry_pre. After the last of all the head runs on the sampled rows; logits are in s.logits.
  // With Depth::rows the range may end at the last KV source at most, and then leaves no carry but published rows.
  void run(Step& step, const StepRows& rows, const LayerRange& range, Depth depth, Scratch& s) const;

  // What one layer's parts share; a layer's files are methods of it.
  struct Layer;

  const Blueprint& b;
  const Schedule& schedule;
  const Prepared& w;
  const Cache& cache;

 private:
  void head(Step& step, const StepRows& rows, Scratch& s) const;
};

}  // namespace manyspan
