#include <algorithm>
#include <string>

#include "engine/answering.h"
#include "engine/guarded.h"
#include "engine/rooms_impl.h"
#include "text/sampling_fields.h"

namespace manyspan {
namespace {

Result<void> check_sampling(const Sampling& s) {
  const auto refuse = [](const std::string& what) { return Error(Fault::invalid, what); };
  if (!(s.temperature >= 0 && s.temperature <= 100)) return refuse("temperature must be between 0 and 100");
  if (!(s.top_p > 0 && s.top_p <= 1)) return refuse("top-p must be above 0 and at most 1");
  if (!(s.min_p >= 0 && s.min_p < 1)) return refuse("min-p must be at least 0 and below 1");
  if (s.top_k < 0) return refuse("top-k must not be negative");
  return {};
}

Result<void> check_request(const Request& r, const Blueprint& b, std::int64_t context) {
  if (r.prompt.empty()) return Error(Fault::invalid, "the prompt is empty");
  if (static_cast<std::int64_t>(r.prompt.size()) > context) {
    return Error(Fault::invalid, "the prompt has " + std::to_string(r.prompt.size()) +
                                     " tokens, more than the context of " + std::to_string(context));
  }
  for (const TokenId id : r.prompt) {
    if (id.value < 0 || id.value >= b.vocabulary) {
      return Error(Fault::invalid, "token id " + std::to_string(id.value) + " is outside the vocabulary of " +
                                       std::to_string(b.vocabulary));
    }
  }
  if (r.max_tokens < 0) return Error(Fault::invalid, "max-tokens must not be negative");
  if (r.stop.size() > text::kMostStops) {
    return Error(Fault::invalid, std::to_string(r.stop.size()) + " stop strings, at most " +
                                     std::to_string(text::kMostStops));
  }
  if (std::find(r.stop.begin(), r.stop.end(), "") != r.stop.end()) {
    return Error(Fault::invalid, "a stop string is empty");
  }
  return check_sampling(r.sampling);
}

// Ends the turn of a caller that leaves early because its sink threw, so that what the turn borrows may go.
class Left {
 public:
  Left(Loop& loop, SessionId session, Scheduler::TurnId turn) : loop_(loop), session_(session), turn_(turn) {}
  ~Left() {
    if (ended_) return;
    const auto cancelled = loop_.call("cancelling", [&](Sessions& sessions, Scheduler& scheduler) {
      scheduler.cancel(turn_);
      if (sessions.is_open(session_) && !scheduler.turn_of(session_)) sessions.reset(session_);
      return Result<void>();
    });
    CHECK(cancelled.ok(), "cancelling takes no memory");
  }
  void ended() { ended_ = true; }

 private:
  Loop& loop_;
  SessionId session_;
  Scheduler::TurnId turn_;
  bool ended_ = false;
};

}  // namespace

std::string_view finish_reason(const Answer& answer) {
  switch (answer.finish) {
    case Finish::length:
      return "length";
    case Finish::cancelled:
      return "cancelled";
    case Finish::stop:
    case Finish::stop_sequence:
      return answer.calls.empty() ? "stop" : "tool_calls";
  }
  return "stop";
}

Result<Answer> Engine::generate(SessionId session, const Request& request,
                                const std::function<void(const OutputPiece&)>& sink, const Cancel* cancel) {
  const Loop::Visit visit(*rooms_->loop);
  TRY(check_request(request, rooms_->checkpoint->blueprint, rooms_->facts.context));
  return guarded("generating", [&] { return answer(session, request, sink, cancel); });
}

Result<Answer> Engine::answer(SessionId session, const Request& request,
                              const std::function<void(const OutputPiece&)>& sink, const Cancel* cancel) {
  Loop& loop = *rooms_->loop;
  const TokenId end{rooms_->checkpoint->blueprint.eos_token};
  Answering answering(request, {tokenizer(), end, rooms_->facts.context}, sink != nullptr);
  const auto begin = [&](Sessions& sessions, Scheduler& scheduler) -> Result<Scheduler::TurnId> {
    if (scheduler.turn_of(session)) {
      return Error(Fault::invalid, "the session is answering another request; open or fork one for this");
    }
    auto turn = guarded("generating", [&] { return answering.begin(sessions, scheduler, session, cancel); });
    if (!turn.ok()) sessions.reset(session);
    return turn;
  };
  Left left(loop, session, TRY(loop.call("generating", begin)));
  std::vector<OutputPiece> pieces;
  while (answering.mailbox().take(pieces)) {
    for (const OutputPiece& p : pieces) sink(p);
  }
  left.ended();
  if (answering.error()) return *answering.error();
  return answering.take();
}

}  // namespace manyspan
