#include "pipeline/stage.h"

namespace manyspan {

Result<StepBuffers> StepBuffers::create(Device& device, const Limits& limits) {
  StepBuffers b;
  const std::size_t rows = limits.step_rows, sampled = limits.sampled_rows;
  b.capacity_ = limits.step_rows;
  b.host_position_.resize(rows);
  b.host_slot_.resize(rows);
  b.host_run_of_.resize(rows);
  b.ids_ = TRY(device.allocate(rows * sizeof(TokenId)));
  b.position_ = TRY(device.allocate(rows * sizeof(Position)));
  b.slot_ = TRY(device.allocate(rows * sizeof(std::int32_t)));
  b.marks_ = TRY(device.allocate(rows));
  b.runs_ = TRY(device.allocate(rows * sizeof(kernels::Run)));
  b.run_of_ = TRY(device.allocate(rows * sizeof(std::int32_t)));
  b.sampled_ = TRY(device.allocate(sampled * sizeof(std::int32_t)));
  b.wishes_ = TRY(device.allocate(sampled * sizeof(kernels::Next)));
  b.counts_ = TRY(device.allocate(sizeof host_counts_));
  return b;
}

void StepBuffers::bring(const Batch& batch, Queue& queue, Device& device, Device& host) {
  for (std::size_t r = 0; r < batch.runs.size(); ++r) {
    const kernels::Run& run = batch.runs[r];
    for (std::int32_t i = 0; i < run.rows; ++i) {
      host_position_[run.row + i] = {run.first.value + i};
      host_slot_[run.row + i] = run.slot;
      host_run_of_[run.row + i] = static_cast<std::int32_t>(r);
    }
  }
  const std::size_t used = batch.ids.size();
  for (std::size_t row = used; row < host_position_.size(); ++row) host_position_[row] = {-1};
  host_counts_[0] = static_cast<std::int32_t>(used);
  host_counts_[1] = static_cast<std::int32_t>(batch.runs.size());
  host_counts_[2] = static_cast<std::int32_t>(batch.sampled.size());

  const auto copy = [&](const Buffer& to, const void* from, std::size_t bytes) {
    queue.copy(device, to.as<void>(), host, from, bytes);
  };
  copy(ids_, batch.ids.data(), batch.ids.size_bytes());
  copy(position_, host_position_.data(), host_position_.size() * sizeof(Position));
  copy(slot_, host_slot_.data(), used * sizeof(std::int32_t));
  copy(run_of_, host_run_of_.data(), used * sizeof(std::int32_t));
  copy(marks_, batch.marks.data(), batch.marks.size_bytes());
  copy(runs_, batch.runs.data(), batch.runs.size_bytes());
  copy(sampled_, batch.sampled.data(), batch.sampled.size_bytes());
  copy(wishes_, batch.wishes.data(), batch.wishes.size_bytes());
  copy(counts_, host_counts_, sizeof host_counts_);
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
