#include "pipeline/stage.h"

#include "base/check.h"

namespace manyspan {

Result<std::unique_ptr<Stage>> Stage::create(Device& device, HostDevice& host, const kernels::Table& table,
                                             const Pipeline::Model& model, const Limits& limits) {
  std::unique_ptr<Stage> stage(new Stage(device, host, table, model, limits));
  stage->cache_ = TRY(Cache::create(device, model.blueprint, limits));
  TRY(stage->open_queues());
  TRY(stage->allocate(TRY(StepBuffers::create(device, limits))));
  return stage;
}

Result<void> Stage::open_queues() {
  main_ = TRY(device_.queue(QueueKind::main));
  side_ = TRY(device_.queue(QueueKind::side));
  forked_ = TRY(device_.event());
  joined_ = TRY(device_.event());
  return {};
}

// The model is asked for one step at the limits, with nothing enqueued.
Result<Step::Needs> Stage::needs() const {
  Step::Needs needs;
  Step step(table_, needs);
  Scratch shapes = Scratch::shapes(model_.blueprint, limits_);
  StepRows rows{};
  rows.batch.rows = limits_.step_rows;
  rows.most_tokens = limits_.context;
  rows.rows = limits_.step_rows;
  rows.sampled_rows = limits_.sampled_rows;
  const ::manyspan::Model model(model_.blueprint, model_.schedule, model_.weights, *cache_);
  model.run(step, rows, shapes);
  kernels::Sample sample{};
  sample.logits = as_const(shapes.logits);
  step.run(table_.sample, sample);
  if (!needs.refused.empty()) return Error(Fault::unsupported, needs.refused);
  return needs;
}

Result<void> Stage::allocate(StepBuffers buffers) {
  buffers_ = std::make_unique<StepBuffers>(std::move(buffers));
  const Step::Needs needs = TRY(this->needs());
  const std::size_t scratch = Scratch::shapes(model_.blueprint, limits_).bytes;
  scratch_memory_ = TRY(device_.allocate(scratch));
  scratch_ = Scratch::carve(model_.blueprint, limits_, scratch_memory_.as<std::byte>());
  main_work_ = TRY(device_.allocate(needs.main_work));
  side_work_ = TRY(device_.allocate(needs.side_work));
  ids_ = TRY(device_.allocate(limits_.sampled_rows * sizeof(TokenId)));
  logprobs_ = TRY(device_.allocate(limits_.sampled_rows * sizeof(float)));
  bytes_ = cache_->bytes() + static_cast<std::int64_t>(scratch + needs.main_work + needs.side_work);
  for (const Rows<std::uint8_t>& p : scratch_.packed) packed_.emplace_back(p.rows * p.cols);
  host_ids_.resize(limits_.sampled_rows);
  host_logprobs_.resize(limits_.sampled_rows);
  return {};
}

StepRows Stage::rows_of(const Batch& batch) const {
  return {.batch = buffers_->view(),
          .sampled = buffers_->sampled(),
          .sampled_count = buffers_->sampled_count(),
          .most_tokens = limits_.context,
          .rows = static_cast<std::int32_t>(batch.ids.size()),
          .sampled_rows = static_cast<std::int32_t>(batch.sampled.size()),
          .runs = batch.runs};
}

Result<void> Stage::bring_engram_rows(const Batch& batch) {
  CHECK(batch.engram_rows.size() == packed_.size(), "rows of every Engram layer");
  for (std::size_t i = 0; i < packed_.size(); ++i) {
    const Rows<std::uint8_t>& to = scratch_.packed[i];
    const auto rows = static_cast<std::int64_t>(batch.ids.size());
    TRY(model_.engram.gather(i, batch.engram_rows[i], {packed_[i].data(), rows, to.cols, to.cols},
                             host_.workers()));
    main_->copy(device_, to.data, host_, packed_[i].data(), rows * to.cols);
  }
  return {};
}

kernels::Sample Stage::sampling() const {
  return {.logits = as_const(scratch_.logits),
          .used = buffers_->sampled_count(),
          .wishes = buffers_->wishes(),
          .id = ids_.as<TokenId>(),
          .logprob = logprobs_.as<float>(),
          .work = {}};
}

void Stage::read(const StatePart& part, std::span<std::byte> to) {
  const std::span<std::byte> from = cache_->part(part);
  CHECK(to.size() == from.size(), "room for the whole part");
  main_->copy(host_, to.data(), device_, from.data(), from.size());
}

void Stage::write(const StatePart& part, std::span<const std::byte> from) {
  const std::span<std::byte> to = cache_->part(part);
  CHECK(to.size() == from.size(), "the whole part");
  main_->copy(device_, to.data(), host_, from.data(), from.size());
}

Result<Pipeline::Output> Stage::step(const Batch& batch, bool want_logits, Trace* trace) {
  TRY(bring_engram_rows(batch));
  buffers_->bring(batch, *main_, device_, host_);
  Step::Lanes lanes{*main_,
                    *side_,
                    *forked_,
                    *joined_,
                    {main_work_.as<std::byte>(), main_work_.bytes()},
                    {side_work_.as<std::byte>(), side_work_.bytes()}};
  Step step(table_, lanes, trace);
  const ::manyspan::Model model(model_.blueprint, model_.schedule, model_.weights, *cache_);
  model.run(step, rows_of(batch), scratch_);

  Pipeline::Output out{};
  const std::size_t sampled = batch.sampled.size();
  if (!batch.wishes.empty()) {
    step.run(table_.sample, sampling());
    main_->copy(host_, host_ids_.data(), device_, ids_.as<void>(), sampled * sizeof(TokenId));
    main_->copy(host_, host_logprobs_.data(), device_, logprobs_.as<void>(), sampled * sizeof(float));
    out.ids = {host_ids_.data(), sampled};
    out.logprobs = {host_logprobs_.data(), sampled};
  }
  if (want_logits) {
    const std::int64_t vocabulary = scratch_.logits.cols;
    host_logits_.resize(std::max(host_logits_.size(), sampled * static_cast<std::size_t>(vocabulary)));
    main_->copy(host_, host_logits_.data(), device_, scratch_.logits.data,
                sampled * vocabulary * sizeof(float));
    out.logits = {host_logits_.data(), static_cast<std::int64_t>(sampled), vocabulary, vocabulary};
  }
  TRY(main_->finish());
  return out;
}

}  // namespace manyspan
