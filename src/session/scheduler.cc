#include "session/scheduler.h"

#include <algorithm>
#include <set>
#include <string>

#include "base/check.h"

namespace manyspan {

Scheduler::Scheduler(Sessions& sessions, const Limits& limits, const Options& options)
    : sessions_(sessions), limits_(limits), options_(options) {
  const auto bounded = [&](std::int32_t wish) {
    return wish <= 0 ? limits.step_rows : std::min(wish, limits.step_rows);
  };
  options_.chunk = bounded(options.chunk);
  options_.chunk_beside = std::min(bounded(options.chunk_beside), options_.chunk);
}

Result<Scheduler::TurnId> Scheduler::add(Turn turn) {
  TRY(sessions_.check({turn.session, turn.prompt, Sessions::Want::last, {}}));
  const TurnId id = ++last_;
  const std::int64_t after = sessions_.timeline(turn.session).length() + std::ssize(turn.prompt);
  if (options_.cone) turns_[id].cone = sessions_.cone(after);
  prompts_.push_back(id);
  turns_[id].turn = std::move(turn);
  return id;
}

void Scheduler::cancel(TurnId id) {
  if (turns_.contains(id)) end_turn(id, Ending::cancelled, nullptr);
}

// Steps under way keep their own list of whom they belong to; a turn that has gone is passed over when they end.
void Scheduler::end_turn(TurnId id, Ending ending, const Error* error) {
  const auto at = turns_.find(id);
  const auto ended = std::move(at->second.turn.ended);
  if (at->second.prompt_begun == at->second.turn.prompt.size()) --decoding_;
  turns_.erase(at);
  std::erase(prompts_, id);
  std::erase(ready_, id);
  if (ended) ended(ending, error);
}

bool Scheduler::work() {
  end_cancelled();
  while (under_way_.size() < static_cast<std::size_t>(limits_.flights) && begin_step()) {
    counts_.most_under_way = std::max(counts_.most_under_way, under_way_.size());
  }
  if (under_way_.empty()) return false;
  end_step();
  return true;
}

void Scheduler::settle() {
  while (!under_way_.empty()) end_step();
}

void Scheduler::abandon(const Error& error) {
  while (sessions_.under_way() > 0) {
    if (!sessions_.end().ok()) break;  // the others are lost with it
  }
  std::vector<std::vector<Share>> lost(under_way_.begin(), under_way_.end());
  under_way_.clear();
  lost.emplace_back();
  for (const auto& [id, running] : turns_) lost.back().push_back({id, running.turn.session, false});
  fail_all(lost, error);
}

std::optional<Scheduler::TurnId> Scheduler::turn_of(SessionId session) const {
  for (const auto& [id, running] : turns_) {
    if (running.turn.session == session) return id;
  }
  return std::nullopt;
}

std::vector<Scheduler::TurnId> Scheduler::all_turns() const {
  std::vector<TurnId> all;
  for (const auto& [id, running] : turns_) all.push_back(id);
  return all;
}

void Scheduler::end_cancelled() {
  std::vector<TurnId> cancelled;
  for (const auto& [id, running] : turns_) {
    const Cancel* c = running.turn.cancelled;
    if (c != nullptr && c->requested()) cancelled.push_back(id);
  }
  for (const TurnId id : cancelled) cancel(id);
}

void Scheduler::end_step() {
  const auto output = sessions_.end();
  if (!output.ok()) {
    const std::vector<std::vector<Share>> lost(under_way_.begin(), under_way_.end());
    under_way_.clear();
    return fail_all(lost, output.error());
  }
  const std::vector<Share> shares = std::move(under_way_.front());
  under_way_.pop_front();
  std::size_t row = 0;
  for (const Share& share : shares) {
    const std::size_t mine = share.sampled ? row++ : 0;
    if (!turns_.contains(share.turn)) continue;
    Running& r = turns_[share.turn];
    --r.under_way;
    if (share.sampled) {
      take(share.turn, output.value().ids[mine], output.value().logprobs[mine]);
    } else if (r.prompt_begun == r.turn.prompt.size() && r.under_way == 0 && !r.turn.drawn) {
      end_turn(share.turn, Ending::enough, nullptr);
    }
  }
}

void Scheduler::take(TurnId id, TokenId token, float logprob) {
  Running& r = turns_[id];
  if (!r.turn.drawn(token, logprob)) return end_turn(id, Ending::enough, nullptr);
  if (!turns_.contains(id)) return;  // drawn() cancelled it
  if (sessions_.timeline(r.turn.session).length() == limits_.context)
    return end_turn(id, Ending::full, nullptr);
  r.next = token;
  ready_.push_back(id);
}

bool Scheduler::begin_step() {
  std::vector<Sessions::Piece> pieces;
  std::vector<Share> shares;
  const Depth depth = next_depth();
  if (depth == Depth::all) add_decoders(pieces, shares);
  add_prompts(depth, pieces, shares);
  if (pieces.empty()) return false;
  for (const Share& share : shares) ++turns_[share.turn].under_way;
  const Result<void> begun = sessions_.begin(pieces, false, nullptr, depth);
  if (!begun.ok()) {
    fail_all({shares}, begun.error());
    return !turns_.empty();
  }
  last_depth_ = depth;
  ++counts_.steps;
  under_way_.push_back(std::move(shares));
  return true;
}

// Dealt out evenly, so that every step under way has its part of them.
void Scheduler::add_decoders(std::vector<Sessions::Piece>& pieces, std::vector<Share>& shares) {
  const auto flights = static_cast<std::size_t>(limits_.flights);
  std::size_t room = std::min<std::size_t>(limits_.sampled_rows, limits_.step_rows);
  room = std::min(room, (decoding_ + flights - 1) / flights);
  for (; room > 0 && !ready_.empty(); --room) {
    Running& r = turns_[ready_.front()];
    pieces.push_back({r.turn.session, {&r.next, 1}, Sessions::Want::last, r.turn.wish});
    shares.push_back({ready_.front(), r.turn.session, true});
    ready_.pop_front();
    ++counts_.decode_rows;
  }
}

// Whether a prompt's next tokens run up to the last KV source only.
bool Scheduler::is_below(TurnId id) const {
  const Running& r = turns_.at(id);
  return sessions_.timeline(r.turn.session).length() < r.cone;
}

// The rows of a step go equally far up. Where some wait for either kind, the kinds take turns.
Depth Scheduler::next_depth() const {
  const auto below = std::count_if(prompts_.begin(), prompts_.end(), [&](TurnId id) { return is_below(id); });
  if (below == 0) return Depth::all;
  if (ready_.empty() && below == std::ssize(prompts_)) return Depth::rows;
  return last_depth_ == Depth::rows ? Depth::all : Depth::rows;
}

void Scheduler::add_prompts(Depth depth, std::vector<Sessions::Piece>& pieces, std::vector<Share>& shares) {
  std::size_t room = limits_.step_rows - pieces.size();
  room = std::min<std::size_t>(room, decoding_ > 0 ? options_.chunk_beside : options_.chunk);
  for (std::size_t seen = prompts_.size(); seen > 0 && room > 0; --seen) {
    const TurnId id = prompts_.front();
    Running& r = turns_[id];
    const bool below = is_below(id);
    if (below != (depth == Depth::rows)) {
      prompts_.pop_front();
      prompts_.push_back(id);
      continue;
    }
    const std::size_t left = r.turn.prompt.size() - r.prompt_begun;
    std::size_t count = std::min(left, room);
    if (below) {
      count = std::min<std::size_t>(count, r.cone - sessions_.timeline(r.turn.session).length());
      counts_.rows_below += static_cast<std::int64_t>(count);
    }
    const bool sampled = count == left && r.turn.drawn;
    const auto rows = std::count_if(shares.begin(), shares.end(), [](const Share& s) { return s.sampled; });
    if (sampled && rows == limits_.sampled_rows) return;
    prompts_.pop_front();
    pieces.push_back({r.turn.session, std::span(r.turn.prompt).subspan(r.prompt_begun, count),
                      sampled ? Sessions::Want::last : Sessions::Want::nothing, r.turn.wish});
    shares.push_back({id, r.turn.session, sampled});
    r.prompt_begun += count;
    room -= count;
    counts_.prompt_rows += static_cast<std::int64_t>(count);
    if (count < left) {
      prompts_.push_back(id);
    } else {
      ++decoding_;
    }
  }
}

// A session that is emptied may have gone on to another turn since its lost step: of a turn that was cancelled.
void Scheduler::fail_all(const std::vector<std::vector<Share>>& steps, const Error& error) {
  std::set<std::int64_t> emptied;
  for (const auto& shares : steps) {
    for (const Share& share : shares) {
      if (sessions_.is_open(share.session) && emptied.insert(share.session.value).second)
        sessions_.reset(share.session);
    }
  }
  for (const TurnId id : all_turns()) {
    const auto at = turns_.find(id);
    if (at != turns_.end() && emptied.contains(at->second.turn.session.value))
      end_turn(id, Ending::failed, &error);
  }
}

}  // namespace manyspan
