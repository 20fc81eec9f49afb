// Answering — one request while it is answered: tokens drawn become text, and decide when it is enough.
//
// The loop's thread makes the turn of it, draws and ends; the caller takes pieces of text out of the mailbox.
// So when an answer ends depends on its tokens alone, and never on how soon anybody reads them.
//
// Owns       the answer; borrows the request and tokenizer, which must outlive it, as it must its turn
// Errors     error(): corrupt: logits that are not finite · exhausted · what a device said; then the session
//            is empty
// Threads    begin() and the turn's callbacks on the loop's thread; mailbox().take() on the caller's; all
//            else before the turn is added or after the mailbox is closed
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "engine/mailbox.h"
#include "engine/request.h"
#include "session/scheduler.h"
#include "session/sessions.h"
#include "text/tokenizer.h"

namespace manyspan {

class Answering {
 public:
  struct Model {
    const text::Tokenizer* tokenizer;  // null: ids only
    TokenId end;                       // after which a model has said all
    std::int64_t context;
  };
  // `streams`: pieces go to the mailbox as they come.
  Answering(const Request& request, const Model& model, bool streams);

  // Leaves in the session what it shares with the prompt, and adds the turn that runs the rest.
  // Errors: exhausted, device_lost: then the session is empty
  Result<Scheduler::TurnId> begin(Sessions& sessions, Scheduler& scheduler, SessionId session,
                                  const Cancel* cancel);

  Mailbox& mailbox() { return mailbox_; }
  const std::optional<Error>& error() const { return error_; }
  Answer take() { return std::move(answer_); }

 private:
  using Clock = std::chrono::steady_clock;

  bool drawn(TokenId token, float logprob);
  Result<bool> take_token(TokenId token);
  void end(Ending ending, const Error* error);
  void show(TokenId token);
  void tell(std::vector<OutputPiece> pieces);
  void finish_text();

  const Request& request_;
  const Model model_;
  const bool streams_;
  const Clock::time_point started_ = Clock::now();
  Clock::time_point first_{};
  std::int64_t most_;  // tokens of the answer
  Sessions* sessions_ = nullptr;
  SessionId session_{};
  text::OutputParser parser_;
  text::ParsedOutput parsed_;
  Answer answer_{};
  std::optional<Error> error_;
  Mailbox mailbox_;
};

}  // namespace manyspan
