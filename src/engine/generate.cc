#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>

#include "engine/guarded.h"
#include "engine/rooms_impl.h"
#include "text/control.h"
#include "text/sampling_fields.h"

namespace manyspan {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point from) {
  return std::chrono::duration<double>(Clock::now() - from).count();
}

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
  };
  if (std::find(r.stop.begin(), r.stop.end(), "") != r.stop.end()) {
    return Error(Fault::invalid, "a stop string is empty");
  }
  return check_sampling(r.sampling);
}

// From ids to pieces of text, told to the sink and kept in the answer. A model without a tokenizer yields ids
// only.
class Teller {
 public:
  Teller(const text::Tokenizer* tokenizer, const Request& request, Answer& answer,
         const std::function<void(const OutputPiece&)>& sink)
      : tokenizer_(tokenizer),
        answer_(answer),
        sink_(sink),
        parser_(options(request)),
        plain_(request.plain) {}

  void token(TokenId id) {
    if (tokenizer_ == nullptr) return;
    const std::string_view bytes = tokenizer_->bytes_of(id);
    if (!tokenizer_->is_control(id)) return tell(parser_.feed(bytes));
    // Of the control tokens only those that steer the parser are passed on; none is shown.
    if (!plain_ && (bytes == text::kThink || bytes == text::kThinkEnd || bytes == text::kDsml)) {
      tell(parser_.feed_control(bytes));
    }
  }
  bool done() const { return parser_.done(); }
  void finish() {
    tell(parser_.finish());
    answer_.text = std::move(parsed_.content);
    answer_.reasoning = std::move(parsed_.reasoning);
    answer_.calls = std::move(parsed_.calls);
    answer_.stop_sequence = parser_.stop_sequence();
    if (answer_.stop_sequence && answer_.finish != Finish::cancelled) answer_.finish = Finish::stop_sequence;
  }

 private:
  static text::ParseOptions options(const Request& r) {
    text::ParseOptions o;
    o.thinking = r.thinking && !r.plain;
    o.tools = r.tools && !r.plain;
    o.inside_calls = r.inside_calls && !r.plain;
    o.by_token = true;
    o.stop = r.stop;
    return o;
  }
  void tell(const std::vector<OutputPiece>& pieces) {
    for (const OutputPiece& p : pieces) {
      parsed_.add(p);
      if (sink_) sink_(p);
    }
  }

  const text::Tokenizer* tokenizer_;
  Answer& answer_;
  const std::function<void(const OutputPiece&)>& sink_;
  text::OutputParser parser_;
  text::ParsedOutput parsed_;
  bool plain_;
};

// Leaves in the session as much of the prompt as it holds, but for the last token, which must run for its
// logits. Where taking the rest back costs as much as it keeps, nothing is left. Returns how many tokens need
// not run.
Result<std::int64_t> reuse(Sessions& sessions, SessionId session, const std::vector<TokenId>& prompt) {
  const std::vector<TokenId>& held = sessions.timeline(session).tokens();
  const auto most = std::min(held.size(), prompt.size() - 1);
  const std::int64_t shared =
      std::mismatch(held.begin(), held.begin() + most, prompt.begin()).first - held.begin();
  const std::int64_t rerun = sessions.rerun_for(session, shared);
  if (rerun < shared) {
    TRY(sessions.truncate(session, shared));
  } else {
    sessions.reset(session);
  }
  return std::max<std::int64_t>(0, shared - rerun);
}

bool requested(const Cancel* cancel) { return cancel != nullptr && cancel->requested(); }

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
  Rooms& r = *rooms_;
  const std::lock_guard lock(r.running);
  TRY(check_request(request, r.checkpoint->blueprint, r.facts.context));
  auto given = guarded("generating", [&] { return answer(session, request, sink, cancel); });
  if (!given.ok()) r.sessions->reset(session);
  return given;
}

Result<Answer> Engine::answer(SessionId session, const Request& request,
                              const std::function<void(const OutputPiece&)>& sink, const Cancel* cancel) {
  Rooms& r = *rooms_;
  Answer answer;
  answer.prompt_tokens = static_cast<std::int64_t>(request.prompt.size());
  const auto started = Clock::now();
  answer.reused_tokens = TRY(reuse(*r.sessions, session, request.prompt));

  const Sampling& s = request.sampling;
  const kernels::Next wish{s.temperature, s.top_p, s.min_p, s.top_k, s.seed, {0}};
  const auto step = [&](std::span<const TokenId> tokens, bool sample) -> Result<TokenId> {
    const Sessions::Piece piece{session, tokens, sample ? Sessions::Want::last : Sessions::Want::nothing,
                                wish};
    const auto out = TRY(r.sessions->step({&piece, 1}, false));
    if (!sample) return TokenId{-1};
    if (!std::isfinite(out.logprobs[0])) {
      return Error(Fault::corrupt, "the model's logits are not finite at position " +
                                       std::to_string(r.sessions->timeline(session).length() - 1) +
                                       "; the checkpoint is damaged or unsuited");
    }
    return out.ids[0];
  };

  Teller teller(tokenizer(), request, answer, sink);
  TokenId next{-1};
  for (auto at = static_cast<std::size_t>(r.sessions->timeline(session).length());
       at < request.prompt.size();) {
    if (requested(cancel)) {
      answer.finish = Finish::cancelled;
      answer.prefill_seconds = seconds_since(started);
      return answer;
    }
    const std::size_t count =
        std::min<std::size_t>(request.prompt.size() - at, r.pipeline->limits().step_rows);
    at += count;
    next = TRY(step(std::span(request.prompt).subspan(at - count, count), at == request.prompt.size()));
  }
  answer.prefill_seconds = seconds_since(started);

  const auto first = Clock::now();
  const std::int64_t room =
      r.facts.context - answer.prompt_tokens + 1;  // the last token sampled need not be held
  const std::int64_t most = request.max_tokens == 0 ? room : std::min(room, request.max_tokens);
  for (;;) {
    answer.ids.push_back(next);
    if (next.value == r.checkpoint->blueprint.eos_token) break;
    teller.token(next);
    if (teller.done()) break;
    if (static_cast<std::int64_t>(answer.ids.size()) >= most) {
      answer.finish = Finish::length;
      break;
    }
    if (requested(cancel)) {
      answer.finish = Finish::cancelled;
      break;
    }
    next = TRY(step({&next, 1}, true));
  }
  teller.finish();
  answer.decode_seconds = seconds_since(first);
  return answer;
}

}  // namespace manyspan
