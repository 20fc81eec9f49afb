#include "pipeline/stage.h"

namespace manyspan {

StepOnHost::StepOnHost(const Limits& limits, const Scratch& scratch)
    : position(limits.step_rows),
      slot(limits.step_rows),
      run_of(limits.step_rows),
      ids(limits.sampled_rows),
      logprobs(limits.sampled_rows) {
  for (const Rows<std::uint8_t>& p : scratch.packed)
    packed.emplace_back(p.data == nullptr ? 0 : p.rows * p.cols);
}

Result<StepBuffers> StepBuffers::create(Device& device, const Limits& limits) {
  StepBuffers b;
  const std::size_t rows = limits.step_rows, sampled = limits.sampled_rows;
  b.capacity_ = limits.step_rows;
  b.ids_ = TRY(device.allocate(rows * sizeof(TokenId)));
  b.position_ = TRY(device.allocate(rows * sizeof(Position)));
  b.slot_ = TRY(device.allocate(rows * sizeof(std::int32_t)));
  b.marks_ = TRY(device.allocate(rows));
  b.runs_ = TRY(device.allocate(rows * sizeof(kernels::Run)));
  b.run_of_ = TRY(device.allocate(rows * sizeof(std::int32_t)));
  b.sampled_ = TRY(device.allocate(sampled * sizeof(std::int32_t)));
  b.wishes_ = TRY(device.allocate(sampled * sizeof(kernels::Next)));
  b.counts_ = TRY(device.allocate(sizeof StepOnHost::counts));
  return b;
}

void StepBuffers::bring(const Batch& batch, StepOnHost& h, Queue& queue, Device& device, Device& host) {
  for (std::size_t r = 0; r < batch.runs.size(); ++r) {
    const kernels::Run& run = batch.runs[r];
    for (std::int32_t i = 0; i < run.rows; ++i) {
      h.position[run.row + i] = {run.first.value + i};
      h.slot[run.row + i] = run.slot;
      h.run_of[run.row + i] = static_cast<std::int32_t>(r);
    }
  }
  const std::size_t used = batch.ids.size();
  for (std::size_t row = used; row < h.position.size(); ++row) h.position[row] = {-1};
  h.counts[0] = static_cast<std::int32_t>(used);
  h.counts[1] = static_cast<std::int32_t>(batch.runs.size());
  h.counts[2] = static_cast<std::int32_t>(batch.sampled.size());

  const auto copy = [&](const Buffer& to, const void* from, std::size_t bytes) {
    queue.copy(device, to.as<void>(), host, from, bytes);
  };
  copy(ids_, batch.ids.data(), batch.ids.size_bytes());
  copy(position_, h.position.data(), h.position.size() * sizeof(Position));
  copy(slot_, h.slot.data(), used * sizeof(std::int32_t));
  copy(run_of_, h.run_of.data(), used * sizeof(std::int32_t));
  copy(marks_, batch.marks.data(), batch.marks.size_bytes());
  copy(runs_, batch.runs.data(), batch.runs.size_bytes());
  copy(sampled_, batch.sampled.data(), batch.sampled.size_bytes());
  copy(wishes_, batch.wishes.data(), batch.wishes.size_bytes());
  copy(counts_, h.counts, sizeof h.counts);
}

kernels::BatchView StepBuffers::view() const {
  return {.rows = capacity_,
          .used = counts_.as<std::int32_t>(),
          .ids = ids_.as<TokenId>(),
          .position = position_.as<Position>(),
          .slot = slot_.as<std::int32_t>(),
          .marks = marks_.as<std::uint8_t>(),
          .runs = runs_.as<kernels::Run>(),
          .run_of = run_of_.as<std::int32_t>(),
          .run_count = counts_.as<std::int32_t>() + 1};
}

}  // namespace manyspan
