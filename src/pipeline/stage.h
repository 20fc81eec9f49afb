// Stage — some layers on one device, with its queues, scratch and share of the cache.
//
// Threads    one thread at a time
#pragma once

#include <memory>
#include <vector>

#include "model/model.h"
#include "pipeline/pipeline.h"

namespace manyspan {

// What of one step lies on the host until the step has ended: copies read it, and results come here. Sized once.
struct StepOnHost {
  StepOnHost(const Limits& limits, const Scratch& scratch);

  std::vector<Position> position;
  std::vector<std::int32_t> slot, run_of;
  std::int32_t counts[3] = {};                    // rows used, runs, sampled rows
  std::vector<std::vector<std::uint8_t>> packed;  // Engram rows, by Engram layer
  std::vector<TokenId> ids;
  std::vector<float> logprobs, logits;
  std::unique_ptr<Event> ended;    // after all that the stage does for the step
  std::unique_ptr<Event> visited;  // after one visit of it
};

// One step's rows on the device, as kernels read them. Sized once.
class StepBuffers {
 public:
  static Result<StepBuffers> create(Device& device, const Limits& limits);

  // Fills the host side from the batch and enqueues its upload.
  void bring(const Batch& batch, StepOnHost& host_side, Queue& queue, Device& device, Device& host);

  kernels::BatchView view() const;
  const std::int32_t* sampled() const { return sampled_.as<std::int32_t>(); }
  const std::int32_t* sampled_count() const { return counts_.as<std::int32_t>() + 2; }
  const kernels::Next* wishes() const { return wishes_.as<kernels::Next>(); }

 private:
  StepBuffers() = default;

  std::int32_t capacity_ = 0;
  Buffer ids_, position_, slot_, marks_, runs_, run_of_, sampled_, wishes_, counts_;
};

// What a stage must have room for.
Scratch::Wanted stage_part(const Placement& placement, std::size_t stage, std::span<const Visit> visits,
                           std::span<const Crossing> crossings);

class Stage {
 public:
  // `steps_kept`: of how many steps it keeps rows and page tables; later ones take their place.
  static Result<std::unique_ptr<Stage>> create(const Pipeline::Place& place, HostDevice& host,
                                               const Pipeline::Model& model, const Scratch::Wanted& part,
                                               const Limits& limits, std::int32_t steps_kept);

  // One step: begin(), then for each visit append() what has landed and run(), then leave(); all of it is enqueued. The
  // batch must live until end() has waited for it. `flight` says which of the steps under way it is.
  Result<void> begin(std::size_t flight, const Batch& batch);
  void append(std::size_t flight, const Crossing& crossing);
  void run(std::size_t flight, const Batch& batch, const LayerRange& range, Depth depth,
           const Rows<Bf16>& main_hidden, Trace* trace);
  // Of the stage with the last layer: enqueues the sampling, and the way home of what is asked for.
  Pipeline::Output bring_output(std::size_t flight, const Batch& batch, bool want_logits);
  // After the step's last visit here: end() waits for all that was enqueued until now, arrive() for one visit.
  void leave(std::size_t flight) { main_->record(*flights_[flight].ended); }
  Result<void> end(std::size_t flight);
  // Records that a visit is done; and waits for it. Its faults are end()'s to tell.
  void mark(std::size_t flight) { main_->record(*flights_[flight].visited); }
  Result<void> await(std::size_t flight) { return main_->finish(*flights_[flight].visited); }

  Queue& main() { return *main_; }
  // As the last visit left it; and where the next one finds it.
  const Carry& left() const { return scratch_.carry; }
  const Carry& entry() {
    scratch_.carry.pre = scratch_.entry_pre;
    return scratch_.carry;
  }
  std::int64_t bytes() const { return bytes_; }

  void set_pages(std::size_t flight, std::size_t kind, std::int32_t slot,
                 std::span<const std::int32_t> pages) {
    cache_->choose_tables(kept(flight));
    cache_->upload(*main_, host_, kind, slot, pages);
  }
  void copy_page(std::size_t kind, std::int32_t from, std::int32_t to) {
    cache_->copy_page(*main_, kind, from, to);
  }
  void copy_tails(std::int32_t from_slot, std::int32_t to_slot) {
    cache_->copy_tails(*main_, from_slot, to_slot);
  }
  std::size_t bytes_of(const StatePart& part) const { return cache_->part(part).size(); }
  void read(const StatePart& part, std::span<std::byte> to);
  void write(const StatePart& part, std::span<const std::byte> from);
  Result<void> finish();

 private:
  Stage(const Pipeline::Place& place, HostDevice& host, const Pipeline::Model& model,
        const Scratch::Wanted& part, const Limits& limits, std::int32_t steps_kept)
      : device_(place.device),
        host_(host),
        table_(place.table),
        weights_(place.weights),
        model_(model),
        part_(part),
        limits_(limits),
        steps_kept_(steps_kept),
        tap_rooms_(place.device, host) {}
  Result<void> open_queues();
  Result<void> allocate();
  Result<Step::Needs> needs() const;
  Result<void> gather_engram_rows(StepOnHost& flight, const Batch& batch);
  void bring_engram_rows(const StepOnHost& flight, const Batch& batch, const LayerRange& range);
  Step::Lanes lanes();
  kernels::Sample sampling(std::size_t flight) const;
  StepRows rows_of(std::size_t flight, const Batch& batch) const;
  std::int32_t kept(std::size_t flight) const { return static_cast<std::int32_t>(flight) % steps_kept_; }
  const StepBuffers& buffers(std::size_t flight) const { return buffers_[kept(flight)]; }
  ::manyspan::Model layers() const { return {model_.blueprint, model_.schedule, weights_, *cache_}; }

  Device& device_;
  HostDevice& host_;
  const kernels::Table& table_;
  const Prepared& weights_;
  Pipeline::Model model_;
  Scratch::Wanted part_;
  Limits limits_;
  std::int32_t steps_kept_;
  std::int64_t bytes_ = 0;

  std::unique_ptr<Queue> main_, side_;
  std::unique_ptr<Event> forked_, joined_;
  std::unique_ptr<Cache> cache_;
  std::vector<StepBuffers> buffers_;
  Buffer scratch_memory_, main_work_, side_work_, ids_, logprobs_;
  Scratch scratch_;
  TapRooms tap_rooms_;
  std::vector<StepOnHost> flights_;
};

}  // namespace manyspan
