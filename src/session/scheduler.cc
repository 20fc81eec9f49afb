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
  while (under_way_.size() < static_cast<std::size_t>(limits_.flights) && begin_step()) {
    counts_.most_under_way = std::max(counts_.most_under_way, under_way_.size());
  }
  if (under_way_.empty()) return false;
  const auto output = sessions_.end();
  if (!output.ok()) {
    const std::vector<std::vector<Share>> lost(under_way_.begin(), under_way_.end());
    under_way_.clear();
    fail_all(lost, output.error());
    return true;
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
  return true;
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
  add_decoders(pieces, shares);
  add_prompts(pieces, shares);
  if (pieces.empty()) return false;
  for (const Share& share : shares) ++turns_[share.turn].under_way;
  const Result<void> begun = sessions_.begin(pieces, false);
  if (!begun.ok()) {
    fail_all({shares}, begun.error());
    return !turns_.empty();
  }
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

void Scheduler::add_prompts(std::vector<Sessions::Piece>& pieces, std::vector<Share>& shares) {
  std::size_t room = limits_.step_rows - pieces.size();
  room = std::min<std::size_t>(room, decoding_ > 0 ? options_.chunk_beside : options_.chunk);
  for (std::size_t seen = prompts_.size(); seen > 0 && room > 0; --seen) {
    const TurnId id = prompts_.front();
    Running& r = turns_[id];
    const std::size_t left = r.turn.prompt.size() - r.prompt_begun, count = std::min(left, room);
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

void Scheduler::fail_all(const std::vector<std::vector<Share>>& steps, const Error& error) {
  std::set<TurnId> lost;
  for (const auto& shares : steps) {
    for (const Share& share : shares) {
      lost.insert(share.turn);
      if (sessions_.is_open(share.session))
        sessions_.reset(share.session);  // also of a turn that was cancelled
    }
  }
  for (const TurnId id : lost) {
    if (turns_.contains(id)) end_turn(id, Ending::failed, &error);
  }
}

}  // namespace manyspan
