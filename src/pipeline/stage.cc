#include "pipeline/stage.h"

#include <optional>

#include "base/check.h"

namespace manyspan {

Scratch::Wanted stage_part(const Placement& placement, std::size_t stage, std::span<const Visit> visits,
                           std::span<const Crossing> crossings) {
  Scratch::Wanted part{placement.stages[stage].layers, {}, {}};
  for (std::size_t v = 0; v < visits.size(); ++v) {
    // What comes in with this visit, or leaves with the one before it.
    const bool in = visits[v].stage == static_cast<std::int32_t>(stage);
    const bool out = v > 0 && visits[v - 1].stage == static_cast<std::int32_t>(stage);
    if (in || out) part.published.insert(crossings[v].published.begin(), crossings[v].published.end());
  }
  return part;
}

Result<std::unique_ptr<Stage>> Stage::create(const Pipeline::Place& place, HostDevice& host,
                                             const Pipeline::Model& model, const Scratch::Wanted& part,
                                             const Limits& limits, std::int32_t steps_kept) {
  std::unique_ptr<Stage> stage(new Stage(place, host, model, part, limits, steps_kept));
  stage->cache_ = TRY(Cache::create(place.device, model.blueprint, part.layers, limits, steps_kept));
  for (std::int32_t i = 0; i < steps_kept; ++i) {
    stage->buffers_.push_back(TRY(StepBuffers::create(place.device, limits)));
  }
  TRY(stage->open_queues());
  TRY(stage->allocate());
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
  Scratch shapes = Scratch::shapes(model_.blueprint, part_, limits_);
  StepRows rows{};
  rows.batch.rows = limits_.step_rows;
  rows.most_tokens = limits_.context;
  rows.rows = limits_.step_rows;
  rows.sampled_rows = limits_.sampled_rows;
  for (const LayerRange& range : part_.layers.ranges) layers().run(step, rows, range, Depth::all, shapes);
  kernels::Sample sample{};
  sample.logits = as_const(shapes.logits);
  step.run(table_.sample, sample);
  if (!needs.refused.empty()) return Error(Fault::unsupported, needs.refused);
  return needs;
}

Result<void> Stage::allocate() {
  const Step::Needs needs = TRY(this->needs());
  const std::size_t scratch = Scratch::shapes(model_.blueprint, part_, limits_).bytes;
  scratch_memory_ = TRY(device_.allocate(scratch));
  scratch_ = Scratch::carve(model_.blueprint, part_, limits_, scratch_memory_.as<std::byte>());
  main_work_ = TRY(device_.allocate(needs.main_work));
  side_work_ = TRY(device_.allocate(needs.side_work));
  ids_ = TRY(device_.allocate(limits_.sampled_rows * sizeof(TokenId)));
  logprobs_ = TRY(device_.allocate(limits_.sampled_rows * sizeof(float)));
  bytes_ = cache_->bytes() + static_cast<std::int64_t>(scratch + needs.main_work + needs.side_work);
  for (std::int32_t i = 0; i < limits_.flights; ++i) {
    flights_.emplace_back(limits_, scratch_);
    flights_.back().ended = TRY(device_.event());
    flights_.back().visited = TRY(device_.event());
  }
  return {};
}

StepRows Stage::rows_of(std::size_t flight, const Batch& batch) const {
  return {.batch = buffers(flight).view(),
          .sampled = buffers(flight).sampled(),
          .sampled_count = buffers(flight).sampled_count(),
          .most_tokens = limits_.context,
          .rows = static_cast<std::int32_t>(batch.ids.size()),
          .sampled_rows = static_cast<std::int32_t>(batch.sampled.size()),
          .runs = batch.runs,
          .main_hidden = {}};
}

Result<void> Stage::gather_engram_rows(StepOnHost& flight, const Batch& batch) {
  CHECK(batch.engram_rows.size() == flight.packed.size(), "rows of every Engram layer");
  for (std::size_t i = 0; i < flight.packed.size(); ++i) {
    const Rows<std::uint8_t>& to = scratch_.packed[i];
    if (to.data == nullptr) continue;
    const auto rows = static_cast<std::int64_t>(batch.ids.size());
    std::uint8_t* at = flight.packed[i].data();
    TRY(model_.engram.gather(i, batch.engram_rows[i], {at, rows, to.cols, to.cols}, host_.workers()));
  }
  return {};
}

// Of the layers that run next: those of another lap may run after another step's.
void Stage::bring_engram_rows(const StepOnHost& flight, const Batch& batch, const LayerRange& range) {
  for (std::size_t i = 0; i < flight.packed.size(); ++i) {
    if (!range.has({model_.blueprint.engram.layers[i]})) continue;
    const Rows<std::uint8_t>& to = scratch_.packed[i];
    main_->copy(device_, to.data, host_, flight.packed[i].data(), batch.ids.size() * to.cols);
  }
}

kernels::Sample Stage::sampling(std::size_t flight) const {
  return {.logits = as_const(scratch_.logits),
          .used = buffers(flight).sampled_count(),
          .wishes = buffers(flight).wishes(),
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

Step::Lanes Stage::lanes() {
  return {*main_,
          *side_,
          *forked_,
          *joined_,
          {main_work_.as<std::byte>(), main_work_.bytes()},
          {side_work_.as<std::byte>(), side_work_.bytes()}};
}

Result<void> Stage::begin(std::size_t flight, const Batch& batch) {
  TRY(gather_engram_rows(flights_[flight], batch));
  buffers_[kept(flight)].bring(batch, flights_[flight], *main_, device_, host_);
  return {};
}

void Stage::append(std::size_t flight, const Crossing& crossing) {
  cache_->choose_tables(kept(flight));
  Step::Lanes lanes = this->lanes();
  Step step(table_, lanes, nullptr);
  for (const std::int32_t source : crossing.appended) {
    step.run(
        table_.append,
        {.batch = buffers(flight).view(),
         .published = manyspan::as_const(scratch_.carry.published[source_index(model_.blueprint, {source})]),
         .source = cache_->source({source})});
  }
}

void Stage::run(std::size_t flight, const Batch& batch, const LayerRange& range, Depth depth,
                const Rows<Bf16>& main_hidden, Trace* trace) {
  bring_engram_rows(flights_[flight], batch, range);
  cache_->choose_tables(kept(flight));
  Step::Lanes lanes = this->lanes();
  std::optional<Step::Tracing> tracing;
  if (trace != nullptr) tracing.emplace(Step::Tracing{*trace, tap_rooms_, host_});
  Step step(table_, lanes, tracing ? &*tracing : nullptr);
  StepRows rows = rows_of(flight, batch);
  rows.main_hidden = main_hidden;
  layers().run(step, rows, range, depth, scratch_);
}

Pipeline::Output Stage::bring_output(std::size_t flight, const Batch& batch, bool want_logits) {
  Step::Lanes lanes = this->lanes();
  Step step(table_, lanes, nullptr);
  StepOnHost& home = flights_[flight];
  Pipeline::Output out{};
  const std::size_t sampled = batch.sampled.size();
  if (!batch.wishes.empty()) {
    step.run(table_.sample, sampling(flight));
    main_->copy(host_, home.ids.data(), device_, ids_.as<void>(), sampled * sizeof(TokenId));
    main_->copy(host_, home.logprobs.data(), device_, logprobs_.as<void>(), sampled * sizeof(float));
    out.ids = {home.ids.data(), sampled};
    out.logprobs = {home.logprobs.data(), sampled};
  }
  if (want_logits) {
    const std::int64_t vocabulary = scratch_.logits.cols;
    home.logits.resize(std::max(home.logits.size(), sampled * static_cast<std::size_t>(vocabulary)));
    main_->copy(host_, home.logits.data(), device_, scratch_.logits.data,
                sampled * vocabulary * sizeof(float));
    out.logits = {home.logits.data(), static_cast<std::int64_t>(sampled), vocabulary, vocabulary};
  }
  return out;
}

Result<void> Stage::end(std::size_t flight) {
  Result<void> ended = main_->finish(*flights_[flight].ended);
  tap_rooms_.clear();
  const Result<void> traced = tap_rooms_.done();
  return ended.ok() ? traced : std::move(ended);
}

Result<void> Stage::finish() {
  Result<void> main = main_->finish();
  Result<void> side = side_->finish();
  return main.ok() ? std::move(side) : std::move(main);
}

}  // namespace manyspan
