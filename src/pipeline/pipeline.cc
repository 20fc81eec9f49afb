#include "pipeline/pipeline.h"

#include "pipeline/stage.h"

namespace manyspan {

Pipeline::Pipeline(std::unique_ptr<Stage> stage) : stage_(std::move(stage)) {}
Pipeline::~Pipeline() = default;

Result<std::unique_ptr<Pipeline>> Pipeline::create(Device& device, HostDevice& host,
                                                   const kernels::Table& table, const Model& model,
                                                   const Limits& limits) {
  return std::unique_ptr<Pipeline>(new Pipeline(TRY(Stage::create(device, host, table, model, limits))));
}

const Limits& Pipeline::limits() const { return stage_->limits(); }
Cache& Pipeline::cache() { return stage_->cache(); }
std::int64_t Pipeline::bytes() const { return stage_->bytes(); }

void Pipeline::set_pages(std::size_t kind, std::int32_t slot, std::span<const std::int32_t> pages) {
  stage_->set_pages(kind, slot, pages);
}

void Pipeline::copy_page(std::size_t kind, std::int32_t from, std::int32_t to) {
  stage_->copy_page(kind, from, to);
}

void Pipeline::copy_tails(std::int32_t from_slot, std::int32_t to_slot) {
  stage_->copy_tails(from_slot, to_slot);
}

std::size_t Pipeline::bytes_of(const StatePart& part) const { return stage_->cache().part(part).size(); }

void Pipeline::read(const StatePart& part, std::span<std::byte> to) { stage_->read(part, to); }

void Pipeline::write(const StatePart& part, std::span<const std::byte> from) { stage_->write(part, from); }

Result<void> Pipeline::finish() { return stage_->finish(); }

Result<Pipeline::Output> Pipeline::step(const Batch& batch, bool want_logits, Trace* trace) {
  const Limits& most = limits();
  if (batch.ids.size() > static_cast<std::size_t>(most.step_rows) ||
      batch.sampled.size() > static_cast<std::size_t>(most.sampled_rows)) {
    return Error(Fault::exhausted, "a step of " + std::to_string(batch.ids.size()) + " rows, " +
                                       std::to_string(batch.sampled.size()) + " sampled; the limits are " +
                                       std::to_string(most.step_rows) + " and " +
                                       std::to_string(most.sampled_rows));
  }
  return stage_->step(batch, want_logits, trace);
}

}  // namespace manyspan
