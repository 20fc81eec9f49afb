// Pipeline — step(batch) → ids, log-probs and logits, whatever runs the layers.
//
// Today one device runs all of them; stages on several devices join behind this same door.
//
// Owns       scratch, cache and queues; borrows weights, tables and devices, which must outlive it
// Errors     step: exhausted when the batch exceeds the limits · corrupt from an Engram table · device_lost
// Threads    one thread at a time
// Spec       house.md 6.2; interfaces.md A6
#pragma once

#include <memory>
#include <span>

#include "base/result.h"
#include "device/host_device.h"
#include "kernels/table.h"
#include "model/batch.h"
#include "model/cache.h"
#include "model/limits.h"
#include "model/trace.h"
#include "prepared/engram_rows.h"
#include "prepared/prepared.h"
#include "spec/layers.h"

namespace manyspan {

class Stage;

class Pipeline {
 public:
  struct Model {
    const Blueprint& blueprint;
    const Schedule& schedule;
    const Prepared& weights;
    const EngramTables& engram;
  };

  // Of the sampled rows, in their order; valid until the next step.
  struct Output {
    std::span<const TokenId> ids;     // empty when the batch has no wishes
    std::span<const float> logprobs;  // likewise
    Rows<const float> logits;         // no data unless wanted
  };

  // Errors: exhausted · unsupported, when the table does not take these shapes
  static Result<std::unique_ptr<Pipeline>> create(Device& device, HostDevice& host,
                                                  const kernels::Table& table, const Model& model,
                                                  const Limits& limits);
  ~Pipeline();

  const Limits& limits() const;
  Cache& cache();
  std::int64_t bytes() const;  // of cache, scratch and work

  // A slot's row of one kind of page table, to be used from the next step on.
  void set_pages(std::size_t kind, std::int32_t slot, std::span<const std::int32_t> pages);

  // These are enqueued, in one order with steps; host bytes must live until finish() or a step has returned.
  // Every device that holds a copy of the part takes part in copies and writes.
  void copy_page(std::size_t kind, std::int32_t from, std::int32_t to);
  void copy_tails(std::int32_t from_slot, std::int32_t to_slot);
  std::size_t bytes_of(const StatePart& part) const;  // 0: there is nothing to read or write
  void read(const StatePart& part, std::span<std::byte> to);
  void write(const StatePart& part, std::span<const std::byte> from);
  Result<void> finish();

  Result<Output> step(const Batch& batch, bool want_logits, Trace* trace = nullptr);

 private:
  explicit Pipeline(std::unique_ptr<Stage> stage);
  std::unique_ptr<Stage> stage_;
};

}  // namespace manyspan
