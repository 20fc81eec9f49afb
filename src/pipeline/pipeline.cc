#include "pipeline/pipeline.h"

#include <algorithm>
#include <utility>

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
  p->laps_ = laps_of(p->visits_);
  p->crossings_ = crossings(model.schedule, p->visits_);
  TRY(check_supply(model.schedule, p->visits_, p->crossings_));
  for (std::size_t s = 0; s < places.size(); ++s) {
    Scratch::Wanted part = stage_part(placement, s, p->visits_, p->crossings_);
    part.engram_row_bytes = model.engram.row_bytes();
    p->stages_.push_back(
        TRY(Stage::create(places[s], host, model, part, limits, steps_kept(p->laps_, limits.flights))));
  }
  p->transfers_.emplace_back();
  for (std::size_t v = 1; v < p->visits_.size(); ++v) {
    Device& from = places[p->visits_[v - 1].stage].device;
    Device& to = places[p->visits_[v].stage].device;
    const std::int32_t landings = landing_places(p->laps_, v, limits.flights);
    p->transfers_.push_back(
        TRY(Transfer::create(from, to, model.blueprint, p->crossings_[v], limits, landings)));
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
  for (const auto& stage : stages_) stage->set_pages(begun_ % limits_.flights, kind, slot, pages);
}

void Pipeline::copy_page(std::size_t kind, std::int32_t from, std::int32_t to) {
  catch_up();
  for (const auto& stage : stages_) stage->copy_page(kind, from, to);
}

void Pipeline::copy_tails(std::int32_t from_slot, std::int32_t to_slot) {
  catch_up();
  for (const auto& stage : stages_) stage->copy_tails(from_slot, to_slot);
}

std::size_t Pipeline::bytes_of(const StatePart& part) const {
  std::size_t bytes = 0;
  for (const auto& stage : stages_) bytes = std::max(bytes, stage->bytes_of(part));
  return bytes;
}

void Pipeline::read(const StatePart& part, std::span<std::byte> to) {
  catch_up();
  for (const auto& stage : stages_) {
    if (stage->bytes_of(part) != 0) return stage->read(part, to);
  }
  CHECK(false, "a part that some stage has");
}

void Pipeline::write(const StatePart& part, std::span<const std::byte> from) {
  const bool window = part.of == StatePart::Of::window;
  const std::size_t lap = window ? lap_with(laps_, visit_of(visits_, part.layer)) : 0;
  if (!under_way_.empty() && under_way_.back().laps <= lap) {
    late_writes_.push_back({begun_, lap, part, from});
    return;
  }
  if (!window) catch_up();
  write_now(part, from);
}

void Pipeline::write_now(const StatePart& part, std::span<const std::byte> from) {
  for (const auto& stage : stages_) {
    if (stage->bytes_of(part) != 0) stage->write(part, from);
  }
}

// Every device that had a part is asked, also after one has failed: each keeps its fault until then.
Result<void> Pipeline::finish() {
  catch_up();
  return finish_queues();
}

Result<void> Pipeline::finish_queues() {
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
    give_up_beginning();  // page tables may be on their way from the caller's memory
    return Error(Fault::exhausted, "a step of " + std::to_string(batch.ids.size()) + " rows, " +
                                       std::to_string(batch.sampled.size()) + " sampled; the limits are " +
                                       std::to_string(limits_.step_rows) + " and " +
                                       std::to_string(limits_.sampled_rows));
  }
  CHECK(under_way_.size() < static_cast<std::size_t>(limits_.flights), "fewer steps under way than may be");
  CHECK(depth == Depth::all || batch.sampled.empty(), "rows that end below the head are not sampled");
  const std::size_t flight = begun_ % limits_.flights;
  for (const auto& stage : stages_) {
    if (Result<void> begun = stage->begin(flight, batch); !begun.ok()) {
      give_up_beginning();  // what is enqueued reads the batch
      return begun;
    }
  }
  under_way_.push_back(
      {.number = begun_,
       .flight = flight,
       .batch = batch,
       .want_logits = want_logits,
       .trace = trace,
       .depth = depth,
       .main_hidden = main_hidden_of(depth == Depth::all ? trace : nullptr, std::ssize(batch.ids)),
       .end = visits_made(depth)});
  ++begun_;
  enqueue_first_laps();
  return {};
}

// Whether most of the lap's stages have layers to run.
bool Pipeline::fills_stages(const UnderWay& step, std::size_t lap) const {
  const auto visits = std::span(visits_).subspan(laps_[lap].begin, laps_[lap].end - laps_[lap].begin);
  const auto running = std::ranges::count_if(visits, [&](const Visit& v) { return !above(v, step.depth); });
  return 2 * running > std::ssize(visits);
}

// Of as many steps as keep every stage at work, and one more: what is enqueued stands before the second laps of earlier
// steps.
void Pipeline::enqueue_first_laps() {
  std::size_t at_work = 0;
  for (const Awaited& a : awaited_) {
    at_work += fills_stages(under_way_[a.step - under_way_.front().number], a.lap) ? 1 : 0;
  }
  for (UnderWay& step : under_way_) {
    if (step.laps > 0) continue;
    if (laps_.size() > 1 && at_work > stages_.size()) return;
    enqueue_lap(step);
    ++at_work;
  }
}

// A fault that comes to light here is of the steps before.
void Pipeline::give_up_beginning() {
  Result<void> finished = finish();
  if (!finished.ok() && !under_way_.empty()) told_early_ = std::move(finished).error();
}

// Whether of a step that goes no higher than the last source only what it published goes there.
bool Pipeline::above(const Visit& visit, Depth depth) const {
  return depth == Depth::rows && visit.range.first > model_.blueprint.kv_sources.back();
}

std::size_t Pipeline::visits_made(Depth depth) const {
  for (std::size_t v = 0; v < visits_.size(); ++v) {
    if (above(visits_[v], depth) && crossings_[v].published.empty()) return v;
  }
  return visits_.size();
}

void Pipeline::enqueue_lap(UnderWay& step) {
  write_late(step);
  const Lap lap = laps_[step.laps++];
  for (std::size_t v = lap.begin; v < std::min(lap.end, step.end); ++v) enqueue_visit(step, v);
  if (all_enqueued(step)) {
    if (step.end == visits_.size()) {
      step.output = stages_[visits_.back().stage]->bring_output(step.flight, step.batch, step.want_logits);
    }
  } else {
    stages_[visits_[lap.end - 1].stage]->mark(step.flight);
  }
  leave(step, lap);
  awaited_.push_back({step.number, step.laps - 1});
}

// The stages that this lap is the last of the step to meet; with the first lap those too that none meets.
void Pipeline::leave(const UnderWay& step, const Lap& lap) {
  std::vector<bool> later(stages_.size()), here(stages_.size(), lap.begin == 0);
  for (std::size_t v = lap.begin; v < step.end; ++v) {
    (v < lap.end ? here : later)[static_cast<std::size_t>(visits_[v].stage)] = true;
  }
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    if (here[s] && !later[s]) stages_[s]->leave(step.flight);
  }
}

void Pipeline::enqueue_visit(UnderWay& step, std::size_t v) {
  const auto rows = static_cast<std::int64_t>(step.batch.ids.size());
  const auto depth_of = [&](std::size_t visit) {
    return above(visits_[visit], step.depth) ? Depth::rows : Depth::all;
  };
  Stage& stage = *stages_[visits_[v].stage];
  if (v > 0) {
    transfers_[v]->land(stage.main(), stage.entry(), rows, depth_of(v));
    stage.append(step.flight, crossings_[v]);
  }
  if (!above(visits_[v], step.depth)) {
    stage.run(step.flight, step.batch, visits_[v].range, step.depth, step.main_hidden, step.trace);
  }
  if (v + 1 < step.end) transfers_[v + 1]->send(stage.main(), stage.left(), rows, depth_of(v + 1));
}

void Pipeline::write_late(const UnderWay& step) {
  std::erase_if(late_writes_, [&](const LateWrite& late) {
    const bool due = late.step <= step.number && late.lap == step.laps;
    if (due) write_now(late.part, late.from);
    return due;
  });
}

// As if every step had been enqueued whole when it began.
void Pipeline::catch_up() {
  for (UnderWay& step : under_way_) {
    while (!all_enqueued(step)) enqueue_lap(step);
  }
  for (const LateWrite& late : late_writes_) write_now(late.part, late.from);
  late_writes_.clear();
}

// Waits for the lap that was enqueued first, and enqueues the one after it. A step that is alone need not wait.
Result<void> Pipeline::go_on() {
  const Awaited next = awaited_.front();
  awaited_.pop_front();
  UnderWay& step = under_way_[next.step - under_way_.front().number];
  if (step.laps != next.lap + 1) return {};  // it has caught up
  step.met = all_enqueued(step);
  if (step.met) return {};
  if (under_way_.size() > 1) TRY(stages_[visits_[laps_[next.lap].end - 1].stage]->await(step.flight));
  enqueue_lap(step);
  enqueue_first_laps();
  return {};
}

// Each device is asked for its fault when all that it does for the step is done, its copies to others too. Once the last
// visit is done, that is so for all. A step that ended below does not get so far: then all are waited for first.
Result<void> Pipeline::wait_for_stages(const UnderWay& step) {
  Result<void> ended;
  const auto ask = [&](Stage& stage) {
    Result<void> here = stage.end(step.flight);
    if (ended.ok() && !here.ok()) ended = std::move(here);
  };
  Stage& last = *stages_[visits_.back().stage];
  ask(last);
  for (const auto& stage : stages_) {
    if (stage.get() != &last) ask(*stage);
  }
  if (step.depth == Depth::rows) {
    for (const auto& stage : stages_) ask(*stage);
  }
  return ended;
}

Result<Pipeline::Output> Pipeline::end() {
  CHECK(!under_way_.empty(), "a step is under way");
  Result<void> ended;
  if (told_early_) ended = *std::exchange(told_early_, std::nullopt);
  while (ended.ok() && !under_way_.front().met) ended = go_on();
  if (ended.ok()) ended = wait_for_stages(under_way_.front());
  if (!ended.ok()) {
    lose_steps();
    return std::move(ended).error();
  }
  const Output out = under_way_.front().output;
  under_way_.pop_front();
  enqueue_first_laps();
  return out;
}

// A device skips what it was given before it told its fault, so no step under way can be trusted; nor may any go on, since
// it would do so with what was there before.
void Pipeline::lose_steps() {
  (void)finish_queues();
  under_way_.clear(), awaited_.clear(), late_writes_.clear();
  for (const auto& transfer : transfers_) {
    if (transfer != nullptr) transfer->forget();
  }
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
