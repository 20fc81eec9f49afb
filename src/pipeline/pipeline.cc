#include "pipeline/pipeline.h"

#include "base/check.h"
#include "pipeline/stage.h"
#include "pipeline/transfer.h"

namespace manyspan {

Pipeline::Pipeline(const Model& model, const Limits& limits)
    : model_(model), limits_(limits), geometry_(PageGeometry::of(model.blueprint, limits)) {}
Pipeline::~Pipeline() = default;

Result<std::unique_ptr<Pipeline>> Pipeline::create(const Placement& placement, std::span<const Place> places,
                                                   HostDevice& host, const Model& model,
                                                   const Limits& limits) {
  CHECK(places.size() == placement.stages.size(), "a place for each stage");
  std::unique_ptr<Pipeline> p(new Pipeline(model, limits));
  p->visits_ = visits(placement);
  p->crossings_ = crossings(model.schedule, p->visits_);
  TRY(check_supply(model.schedule, p->visits_, p->crossings_));
  for (std::size_t s = 0; s < places.size(); ++s) {
    const auto part = stage_part(placement, s, p->visits_, p->crossings_);
    p->stages_.push_back(TRY(Stage::create(places[s], host, model, part, limits)));
  }
  p->transfers_.emplace_back();
  for (std::size_t v = 1; v < p->visits_.size(); ++v) {
    Device& from = places[p->visits_[v - 1].stage].device;
    Device& to = places[p->visits_[v].stage].device;
    p->transfers_.push_back(TRY(Transfer::create(from, to, model.blueprint, p->crossings_[v], limits)));
  }
  return p;
}

std::int64_t Pipeline::bytes() const {
  std::int64_t bytes = 0;
  for (const auto& stage : stages_) bytes += stage->bytes();
  for (const auto& transfer : transfers_) bytes += transfer == nullptr ? 0 : transfer->bytes();
  return bytes;
}

void Pipeline::set_pages(std::size_t kind, std::int32_t slot, std::span<const std::int32_t> pages) {
  for (const auto& stage : stages_) stage->set_pages(kind, slot, pages);
}

void Pipeline::copy_page(std::size_t kind, std::int32_t from, std::int32_t to) {
  for (const auto& stage : stages_) stage->copy_page(kind, from, to);
}

void Pipeline::copy_tails(std::int32_t from_slot, std::int32_t to_slot) {
  for (const auto& stage : stages_) stage->copy_tails(from_slot, to_slot);
}

std::size_t Pipeline::bytes_of(const StatePart& part) const {
  std::size_t bytes = 0;
  for (const auto& stage : stages_) bytes = std::max(bytes, stage->bytes_of(part));
  return bytes;
}

void Pipeline::read(const StatePart& part, std::span<std::byte> to) {
  for (const auto& stage : stages_) {
    if (stage->bytes_of(part) != 0) return stage->read(part, to);
  }
  CHECK(false, "a part that some stage has");
}

void Pipeline::write(const StatePart& part, std::span<const std::byte> from) {
  for (const auto& stage : stages_) {
    if (stage->bytes_of(part) != 0) stage->write(part, from);
  }
}

// Every device that had a part is asked, also after one has failed: each keeps its fault until then.
Result<void> Pipeline::finish() {
  Result<void> first;
  const auto note = [&](Result<void> done) {
    if (first.ok() && !done.ok()) first = std::move(done);
  };
  for (const auto& stage : stages_) note(stage->finish());
  for (const auto& transfer : transfers_) {
    if (transfer != nullptr) note(transfer->finish());
  }
  return first;
}

Result<void> Pipeline::begin(const Batch& batch, bool want_logits, Trace* trace, Depth depth) {
  if (batch.ids.size() > static_cast<std::size_t>(limits_.step_rows) ||
      batch.sampled.size() > static_cast<std::size_t>(limits_.sampled_rows)) {
    (void)finish();  // page tables may be on their way from the caller's memory
    return Error(Fault::exhausted, "a step of " + std::to_string(batch.ids.size()) + " rows, " +
                                       std::to_string(batch.sampled.size()) + " sampled; the limits are " +
                                       std::to_string(limits_.step_rows) + " and " +
                                       std::to_string(limits_.sampled_rows));
  }
  CHECK(under_way_.size() < static_cast<std::size_t>(limits_.flights), "fewer steps under way than may be");
  const std::size_t flight = begun_ % limits_.flights;
  CHECK(depth == Depth::all || batch.sampled.empty(), "rows that end below the head are not sampled");
  for (const auto& stage : stages_) {
    if (Result<void> begun = stage->begin(flight, batch); !begun.ok()) {
      (void)finish();  // what is enqueued reads the batch
      return begun;
    }
  }
  enqueue_visits(batch, depth, trace);
  under_way_.push_back({stages_[visits_.back().stage]->bring_output(flight, batch, want_logits), depth});
  for (const auto& stage : stages_) stage->leave(flight);
  ++begun_;
  return {};
}

// Every visit in order; a step that goes no higher than the last source ends there, and what it published goes on to the
// stages that keep a copy.
void Pipeline::enqueue_visits(const Batch& batch, Depth depth, Trace* trace) {
  const auto rows = static_cast<std::int64_t>(batch.ids.size());
  const Rows<Bf16> main_hidden = main_hidden_of(trace, rows);
  const auto above = [&](const Visit& visit) {
    return depth == Depth::rows && visit.range.first > model_.blueprint.kv_sources.back();
  };
  for (std::size_t v = 0; v < visits_.size(); ++v) {
    Stage& stage = *stages_[visits_[v].stage];
    const bool published_only = above(visits_[v]);
    if (published_only && crossings_[v].published.empty()) return;
    if (v > 0) {
      transfers_[v]->land(stage.main(), stage.entry(), rows, published_only ? Depth::rows : Depth::all);
      stage.append(crossings_[v]);
    }
    if (!published_only) stage.run(batch, visits_[v].range, depth, main_hidden, trace);
    if (v + 1 == visits_.size()) return;
    const bool next_published_only = above(visits_[v + 1]);
    if (next_published_only && crossings_[v + 1].published.empty()) return;
    transfers_[v + 1]->send(stage.main(), stage.left(), rows, next_published_only ? Depth::rows : Depth::all);
  }
}

Result<Pipeline::Output> Pipeline::end() {
  CHECK(!under_way_.empty(), "a step is under way");
  const std::size_t flight = (begun_ - under_way_.size()) % limits_.flights;
  // Each device is asked for its fault when all that it does for the step is done, its copies to others too. Once the
  // last visit is done, that is so for all. A step that ended below does not get so far: then all are waited for first.
  Result<void> ended;
  const auto ask = [&](Stage& stage) {
    Result<void> here = stage.end(flight);
    if (ended.ok() && !here.ok()) ended = std::move(here);
  };
  Stage& last = *stages_[visits_.back().stage];
  ask(last);
  for (const auto& stage : stages_) {
    if (stage.get() != &last) ask(*stage);
  }
  if (under_way_.front().depth == Depth::rows) {
    for (const auto& stage : stages_) ask(*stage);
  }
  if (!ended.ok()) {
    // A device skips what it was given before it told its fault, so no step under way can be trusted.
    (void)finish();
    under_way_.clear();
    return std::move(ended).error();
  }
  const Output out = under_way_.front().output;
  under_way_.pop_front();
  return out;
}

Result<Pipeline::Output> Pipeline::step(const Batch& batch, bool want_logits, Trace* trace) {
  CHECK(under_way_.empty(), "nothing else is under way");
  TRY(begin(batch, want_logits, trace));
  return end();
}

// What the draft model reads is of several layers, which may lie on several stages: one tap for all.
Rows<Bf16> Pipeline::main_hidden_of(Trace* trace, std::int64_t rows) const {
  if (trace == nullptr) return {};
  const auto targets = static_cast<std::int64_t>(model_.blueprint.draft_targets().size());
  return trace->rows<Bf16>("main_hidden", kNoLayer, targets == 0 ? 0 : rows,
                           targets * model_.blueprint.hidden);
}

}  // namespace manyspan
