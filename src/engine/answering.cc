#include "engine/answering.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "engine/guarded.h"
#include "text/control.h"

namespace manyspan {
namespace {

text::ParseOptions parse_options(const Request& r) {
  text::ParseOptions o;
  o.thinking = r.thinking && !r.plain;
  o.tools = r.tools && !r.plain;
  o.inside_calls = r.inside_calls && !r.plain;
  o.by_token = true;
  o.stop = r.stop;
  return o;
}

// Leaves in the session as much of the prompt as it holds, but for the last token, which must run for its
// logits. Where taking the rest back costs as much as it keeps, nothing is left. Returns how many tokens need
// not run.
Result<std::int64_t> reuse(Sessions& sessions, Scheduler& scheduler, SessionId session,
                           const std::vector<TokenId>& prompt) {
  const std::vector<TokenId>& held = sessions.timeline(session).tokens();
  const auto shared_now = [&] {
    const auto most = std::min(held.size(), prompt.size() - 1);
    return std::mismatch(held.begin(), held.begin() + most, prompt.begin()).first - held.begin();
  };
  if (const auto all = shared_now(); all == std::ssize(held) && sessions.is_whole(session))
    return all;        // a session that goes on need not wait for steps under way
  scheduler.settle();  // which may empty a session
  const std::int64_t shared = shared_now();
  const std::int64_t rerun = sessions.rerun_for(session, shared);
  if (rerun < shared) {
    TRY(sessions.truncate(session, shared));
  } else {
    sessions.reset(session);
  }
  return std::max<std::int64_t>(0, shared - rerun);
}

double seconds(std::chrono::steady_clock::duration d) { return std::chrono::duration<double>(d).count(); }

}  // namespace

Answering::Answering(const Request& request, const Model& model, bool streams)
    : request_(request), model_(model), streams_(streams), parser_(parse_options(request)) {
  answer_.prompt_tokens = std::ssize(request.prompt);
  const std::int64_t room =
      model.context - answer_.prompt_tokens + 1;  // the last token drawn need not be held
  most_ = request.max_tokens == 0 ? room : std::min(room, request.max_tokens);
}

Result<Scheduler::TurnId> Answering::begin(Sessions& sessions, Scheduler& scheduler, SessionId session,
                                           const Cancel* cancel) {
  sessions_ = &sessions;
  session_ = session;
  answer_.reused_tokens = TRY(reuse(sessions, scheduler, session, request_.prompt));
  const Sampling& s = request_.sampling;
  const std::int64_t held = sessions.timeline(session).length();
  return scheduler.add({.session = session,
                        .prompt = {request_.prompt.begin() + held, request_.prompt.end()},
                        .wish = {s.temperature, s.top_p, s.min_p, s.top_k, s.seed, {0}},
                        .drawn = [this](TokenId token, float logprob) { return drawn(token, logprob); },
                        .ended = [this](Ending ending, const Error* error) { end(ending, error); },
                        .cancelled = cancel});
}

bool Answering::drawn(TokenId token, float logprob) {
  if (!std::isfinite(logprob)) {
    error_ = Error(Fault::corrupt, "the model's logits are not finite at position " +
                                       std::to_string(sessions_->timeline(session_).length() - 1) +
                                       "; the checkpoint is damaged or unsuited");
    return false;
  }
  auto more = guarded("generating", [&] { return take_token(token); });
  if (more.ok()) return more.value();
  error_ = std::move(more).error();
  return false;
}

Result<bool> Answering::take_token(TokenId token) {
  if (answer_.ids.empty()) {
    first_ = Clock::now();
    answer_.prefill_seconds = seconds(first_ - started_);
  }
  answer_.ids.push_back(token);
  if (token == model_.end && !request_.past_end) return false;
  show(token);
  if (parser_.done()) return false;
  if (std::ssize(answer_.ids) < most_) return true;
  answer_.finish = Finish::length;
  return false;
}

// A model without a tokenizer yields ids only.
void Answering::show(TokenId id) {
  if (model_.tokenizer == nullptr) return;
  const std::string_view bytes = model_.tokenizer->bytes_of(id);
  if (!model_.tokenizer->is_control(id)) return tell(parser_.feed(bytes));
  // Of the control tokens only those that steer the parser are passed on; none is shown.
  if (!request_.plain && (bytes == text::kThink || bytes == text::kThinkEnd || bytes == text::kDsml)) {
    tell(parser_.feed_control(bytes));
  }
}

void Answering::tell(std::vector<OutputPiece> pieces) {
  for (const OutputPiece& p : pieces) parsed_.add(p);
  if (streams_) mailbox_.put(std::move(pieces));
}

void Answering::finish_text() {
  tell(parser_.finish());
  answer_.text = std::move(parsed_.content);
  answer_.reasoning = std::move(parsed_.reasoning);
  answer_.calls = std::move(parsed_.calls);
  answer_.stop_sequence = parser_.stop_sequence();
  if (answer_.stop_sequence && answer_.finish != Finish::cancelled) answer_.finish = Finish::stop_sequence;
}

void Answering::end(Ending ending, const Error* error) {
  if (error != nullptr) error_ = *error;
  if (ending == Ending::cancelled) answer_.finish = Finish::cancelled;
  if (answer_.ids.empty()) {
    answer_.prefill_seconds = seconds(Clock::now() - started_);
  } else if (!error_) {
    const auto finished =
        guarded("generating", [&]() -> Result<void> { return finish_text(), Result<void>(); });
    if (!finished.ok()) error_ = finished.error();
    answer_.decode_seconds = seconds(Clock::now() - first_);
  }
  if (error_) sessions_->reset(session_);
  mailbox_.close();
}

}  // namespace manyspan
