// Engine — the library's front door: open a checkpoint, generate with a callback, cancel.
//
//   auto engine = Engine::open({.model = "models/first-light"}).value();
//   auto request = request_of(question("What hath the perfect garment?").value(), *engine->tokenizer()).value();
//   auto answer = engine->generate(session, request, [](const OutputPiece& piece) { ... });
//
// Owns       everything behind it
// Requires   a session that is open, wherever one is named
// Errors     open: not_found, corrupt, unsupported from the checkpoint, unsupported from the table, invalid for an
//            option, exhausted · generate, logits: invalid for what is asked, exhausted, corrupt, device_lost
// Threads    any thread may call, and many may generate at once, each in a session of its own: one thread of
//            the engine's runs their rows together, step by step. Everything else waits for the steps under
//            way at most. A Cancel may be requested from anywhere. The engine's end cancels what runs and waits
//            for whoever is inside; nobody may call any more then
// Spec       house.md 5, 6
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/ids.h"
#include "base/result.h"
#include "engine/options.h"
#include "engine/request.h"
#include "spec/blueprint.h"
#include "text/tokenizer.h"

namespace manyspan {

class Engine {
 public:
  static Result<std::unique_ptr<Engine>> open(const EngineOptions& options);
  ~Engine();

  // A conversation's state. It keeps what was computed, and a request whose prompt begins as it does reuses
  // that beginning.
  // Errors: exhausted when EngineOptions::sessions are open
  Result<SessionId> open_session();
  // A request that is being answered in the session ends first, as cancelled.
  void close_session(SessionId session);
  void reset_session(SessionId session);

  // A session that holds the same, sharing memory with it until either goes on.
  // Errors: exhausted when EngineOptions::sessions are open
  Result<SessionId> fork_session(SessionId session);

  // Tokens that a session holds, and taking back all but the first `length` of them, exactly: it goes on as if
  // they had never been run. The last few dozen cost nothing; further back, some windows are run again.
  // Errors: invalid for a length that it does not have, or while a request is answered in it; exhausted,
  //         device_lost: then the session is empty
  std::int64_t session_length(SessionId session) const;
  Result<void> truncate_session(SessionId session, std::int64_t length);

  // A session as a file, and a new session from one, which goes on exactly as the saved one would have. The
  // file is of this model and table; where the model's layers run does not matter (docs/snapshot-format.md).
  // Errors: save: not_found or exhausted for the file · load: not_found; corrupt; unsupported: another
  //         version, model or table; exhausted: no session free, or longer than the context · both: device_lost
  Result<void> save_session(SessionId session, const std::string& path);
  Result<SessionId> load_session(const std::string& path);

  // Makes the session hold `request.prompt` (reusing, extending or rebuilding what is there), then samples
  // until the model stops, a stop string appears, a limit is reached or `cancel` is requested, which is looked
  // at before every step. `sink` is called with text as it comes, from the caller's thread: a slow one delays
  // nobody else. It must not call the engine. A request that is refused leaves the session as it was, so does a
  // second one while the session answers (invalid); after any other error it is reset.
  Result<Answer> generate(SessionId session, const Request& request,
                          const std::function<void(const OutputPiece&)>& sink = {},
                          const Cancel* cancel = nullptr);

  // Logits of every position, for conformance and evaluation. Runs in a session of its own, so one must be free.
  Result<Logits> logits(const LogitsRequest& request, const Cancel* cancel = nullptr);

  const Blueprint& blueprint() const;
  const text::Tokenizer* tokenizer() const;  // null where the checkpoint has none
  const GenerationDefaults& defaults() const;
  const EngineFacts& facts() const;

  // What every stage did since the last call; the first call begins keeping it. Empty but for EngineOptions::stage_time.
  std::vector<StageSpan> take_spans();

 private:
  struct Rooms;
  static Result<std::unique_ptr<Engine>> open_rooms(const EngineOptions& options);
  Result<Answer> answer(SessionId session, const Request& request,
                        const std::function<void(const OutputPiece&)>& sink, const Cancel* cancel);
  explicit Engine(std::unique_ptr<Rooms> rooms);
  std::unique_ptr<Rooms> rooms_;
};

}  // namespace manyspan
