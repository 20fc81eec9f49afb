// Scheduler — who runs in the next step, and how many prompt tokens run beside those who decode.
//
// A turn is a prompt that a session goes on with, and the tokens drawn after it. Steps are kept under way as many as
// the pipeline takes, so that every stage has work: those who decode are dealt out over them, and each step takes at
// most one chunk of prompts beside, from whoever has waited longest. Chunks of one prompt follow each other through
// the stages without waiting. So nobody starves, and how turns meet in steps changes no bit of any of them.
//
// Requires   a session has one turn at a time, and is whole when it begins (Sessions::is_whole)
// Errors     told to the turn's `ended`: a fault of a device ends all turns whose sessions had a step under way,
//            and empties those; the others go on
// Threads    one thread at a time, but for a Cancel; drawn() and ended() are called from work(), settle(),
//            cancel() and abandon(), and may add turns
// Spec       house.md 6; performance.md 4 (P4)
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/cancel.h"
#include "session/sessions.h"

namespace manyspan {

enum class Ending : std::uint8_t {
  enough,     // drawn() said so, or nothing was to be drawn
  full,       // the session holds as many tokens as it may
  cancelled,  // what ran of it stays in the session
  failed,     // the session is empty
};

struct Turn {
  SessionId session;
  std::vector<TokenId> prompt;  // appended to what the session holds; not empty
  kernels::Next wish{};
  // A token drawn and its log-prob: whether to go on. The token is in the session only once another is drawn.
  // Null: nothing is drawn after the prompt.
  std::function<bool(TokenId, float)> drawn{};
  std::function<void(Ending, const Error*)> ended{};
  const Cancel* cancelled = nullptr;  // looked at before every step, until the turn has ended
};

class Scheduler {
 public:
  struct Options {
    std::int32_t chunk = 0;          // most prompt tokens of a step; 0: as many as a step takes
    std::int32_t chunk_beside = 64;  // the same while anybody decodes
    bool cone = true;  // prompts run in all layers only from Sessions::cone() on; the bits are the same
  };
  Scheduler(Sessions& sessions, const Limits& limits, const Options& options);

  using TurnId = std::int64_t;

  // Errors: invalid: an empty prompt, a token outside the vocabulary · exhausted: longer than the context
  Result<TurnId> add(Turn turn);
  // The turn ends before another step takes it; of a turn that has ended nothing happens.
  void cancel(TurnId id);

  // Begins what can be begun, and waits for the oldest step. False: there is nothing to do.
  bool work();
  // Waits for all steps under way and begins none, for whoever changes what a session holds.
  void settle();
  // Ends all turns, those under way included, and empties their sessions: for when work() could not go on.
  void abandon(const Error& error);

  std::size_t turns() const { return turns_.size(); }
  std::optional<TurnId> turn_of(SessionId session) const;
  std::vector<TurnId> all_turns() const;
  // Steps and rows since the beginning, for whoever measures.
  struct Counts {
    std::int64_t steps = 0, prompt_rows = 0, decode_rows = 0;
    std::int64_t rows_below = 0;  // of the prompts' rows, those that ran up to the last KV source only
    std::size_t most_under_way = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  struct Running {
    Turn turn;
    std::size_t prompt_begun = 0;  // tokens of the prompt that are in a step, or were
    std::int64_t cone = 0;         // position from which on they run in all layers
    TokenId next{-1};              // drawn, and not yet in a step
    int under_way = 0;             // steps
  };
  // Whom a step under way belongs to, in the order of its pieces.
  struct Share {
    TurnId turn;
    SessionId session;
    bool sampled;
  };

  bool begin_step();
  bool is_below(TurnId id) const;
  Depth next_depth() const;
  void end_step();
  void end_cancelled();
  void add_decoders(std::vector<Sessions::Piece>& pieces, std::vector<Share>& shares);
  void add_prompts(Depth depth, std::vector<Sessions::Piece>& pieces, std::vector<Share>& shares);
  void take(TurnId id, TokenId token, float logprob);
  void end_turn(TurnId id, Ending ending, const Error* error);
  void fail_all(const std::vector<std::vector<Share>>& steps, const Error& error);

  Sessions& sessions_;
  Limits limits_;
  Options options_;
  std::map<TurnId, Running> turns_;
  std::deque<TurnId> prompts_;  // with prompt tokens that are in no step yet, the longest waiting first
  std::deque<TurnId> ready_;    // with a drawn token that is in no step yet, likewise
  std::size_t decoding_ = 0;    // turns past their prompt
  std::deque<std::vector<Share>> under_way_;
  TurnId last_ = 0;
  Depth last_depth_ = Depth::all;  // of the step that began last
  Counts counts_;
};

}  // namespace manyspan
