// Pipeline — step(batch) → ids, log-probs and logits, whatever devices run the layers.
//
// A placement cuts the layers into stages. A step enqueues every visit on the queues of its stage, in order, and
// waits once, for what was asked; what crosses from stage to stage never passes through the host. Where stages are come
// back to and several steps are under way, a step's next lap is enqueued when the one before has been waited for, so that
// steps go through the stages beside each other.
//
// Owns       scratch, caches and queues; borrows weights, tables and devices, which must outlive it
// Errors     step: exhausted when the batch exceeds the limits · corrupt from an Engram table · device_lost; after an
//            error the sessions of the step must be reset
// Threads    one thread at a time
// Spec       house.md 6.2; interfaces.md A6, A12
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "device/host_device.h"
#include "kernels/table.h"
#include "model/batch.h"
#include "model/cache.h"
#include "model/limits.h"
#include "model/model.h"
#include "model/trace.h"
#include "pipeline/crossing.h"
#include "pipeline/laps.h"
#include "prepared/engram_rows.h"
#include "prepared/placement.h"
#include "prepared/prepared.h"
#include "spec/layers.h"

namespace manyspan {

class Stage;
class Transfer;

class Pipeline {
 public:
  struct Model {
    const Blueprint& blueprint;
    const Schedule& schedule;
    const EngramTables& engram;
  };
  // A device, what runs on it, and the weights of its stage.
  struct Place {
    Device& device;
    const kernels::Table& table;
    const Prepared& weights;
  };

  // Of the sampled rows, in their order; valid until as many steps have begun after it as may be under way.
  struct Output {
    std::span<const TokenId> ids;     // empty when the batch has no wishes
    std::span<const float> logprobs;  // likewise
    Rows<const float> logits;         // no data unless wanted
  };

  // `places`: one for each stage of the placement, in its order.
  // Errors: exhausted · unsupported, when a table does not take these shapes · invalid, when a stage would lack
  //         something that its layers read
  static Result<std::unique_ptr<Pipeline>> create(const Placement& placement, std::span<const Place> places,
                                                  HostDevice& host, const Model& model, const Limits& limits);
  ~Pipeline();

  const Limits& limits() const { return limits_; }
  const PageGeometry& geometry() const { return geometry_; }
  std::int64_t bytes() const;  // of caches, scratch, work and transfers

  // A slot's row of one kind of page table, for the step that begins next, which needs those of all its sessions. The
  // pages must live until it has ended.
  void set_pages(std::size_t kind, std::int32_t slot, std::span<const std::int32_t> pages);

  // These are enqueued, in one order with steps; host bytes must live until finish(), or a step that began later, has
  // returned. Every device that holds a copy of the part takes part in copies and writes.
  void copy_page(std::size_t kind, std::int32_t from, std::int32_t to);
  void copy_tails(std::int32_t from_slot, std::int32_t to_slot);
  std::size_t bytes_of(const StatePart& part) const;  // 0: there is nothing to read or write
  void read(const StatePart& part, std::span<std::byte> to);
  void write(const StatePart& part, std::span<const std::byte> from);
  Result<void> finish();

  // Enqueues a step, and end() waits for the one that began first. At most limits().flights are under way. The batch
  // must live until its step has ended, a trace too.
  // With Depth::rows nothing may be sampled.
  // Errors: begin: nothing is under way more than before · end: every step under way is lost with this error
  Result<void> begin(const Batch& batch, bool want_logits, Trace* trace = nullptr, Depth depth = Depth::all);
  Result<Output> end();
  std::size_t under_way() const { return under_way_.size(); }

  // Both at once. Requires: nothing is under way
  Result<Output> step(const Batch& batch, bool want_logits, Trace* trace = nullptr);

 private:
  Pipeline(const Model& model, const Limits& limits);
  struct UnderWay {
    std::size_t number;  // steps began before it
    std::size_t flight;
    Batch batch;
    bool want_logits;
    Trace* trace;
    Depth depth;
    Rows<Bf16> main_hidden;
    std::size_t end;       // visits that it makes
    std::size_t laps = 0;  // enqueued
    bool met = false;      // the host has come to its last lap in what it waits for
    Output output{};
  };
  // What the host will wait for, in the order in which it was enqueued.
  struct Awaited {
    std::size_t step, lap;
  };
  // A window page to be filled before the step's lap that sees it.
  struct LateWrite {
    std::size_t step, lap;
    StatePart part;
    std::span<const std::byte> from;
  };

  void give_up_beginning();
  bool above(const Visit& visit, Depth depth) const;
  std::size_t visits_made(Depth depth) const;
  bool all_enqueued(const UnderWay& step) const {
    return step.laps > 0 && laps_[step.laps - 1].end >= step.end;
  }
  bool fills_stages(const UnderWay& step, std::size_t lap) const;
  void enqueue_first_laps();
  void enqueue_lap(UnderWay& step);
  void enqueue_visit(UnderWay& step, std::size_t visit);
  void leave(const UnderWay& step, const Lap& lap);
  void write_now(const StatePart& part, std::span<const std::byte> from);
  void write_late(const UnderWay& step);
  void catch_up();
  Result<void> finish_queues();
  Result<void> go_on();
  void lose_steps();
  Result<void> wait_for_stages(const UnderWay& step);
  Rows<Bf16> main_hidden_of(Trace* trace, std::int64_t rows) const;
  const Model model_;
  const Limits limits_;
  const PageGeometry geometry_;
  std::vector<Visit> visits_;
  std::vector<Lap> laps_;
  std::vector<Crossing> crossings_;
  std::vector<std::unique_ptr<Stage>> stages_;
  std::vector<std::unique_ptr<Transfer>> transfers_;  // into each visit; null for the first
  std::deque<UnderWay> under_way_;
  std::deque<Awaited> awaited_;
  std::vector<LateWrite> late_writes_;
  std::optional<Error> told_early_;  // a fault that a step's failed beginning was told
  std::size_t begun_ = 0;            // steps ever
};

}  // namespace manyspan
