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
// Threads    any thread may call; calls that run the model wait for each other. A Cancel may be requested
//            from anywhere
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

  // A conversation's state. It keeps what was computed, and a request whose prompt goes on from all of it reuses it.
  // Errors: exhausted when EngineOptions::sessions are open
  Result<SessionId> open_session();
  void close_session(SessionId session);
  void reset_session(SessionId session);

  // Makes the session hold `request.prompt` (reusing, extending or rebuilding what is there), then samples
  // until the model stops, a stop string appears, a limit is reached or `cancel` is requested. `sink` is
  // called with text as it comes, from this thread, and must not call the engine. A request that is refused
  // leaves the session as it was; after any other error it is reset.
  Result<Answer> generate(SessionId session, const Request& request,
                          const std::function<void(const OutputPiece&)>& sink = {},
                          const Cancel* cancel = nullptr);

  // Logits of every position, for conformance and evaluation. Runs in a session of its own, so one must be free.
  Result<Logits> logits(const LogitsRequest& request, const Cancel* cancel = nullptr);

  const Blueprint& blueprint() const;
  const text::Tokenizer* tokenizer() const;  // null where the checkpoint has none
  const GenerationDefaults& defaults() const;
  const EngineFacts& facts() const;

 private:
  struct Rooms;
  static Result<std::unique_ptr<Engine>> open_rooms(const EngineOptions& options);
  Result<Answer> answer(SessionId session, const Request& request,
                        const std::function<void(const OutputPiece&)>& sink, const Cancel* cancel);
  explicit Engine(std::unique_ptr<Rooms> rooms);
  std::unique_ptr<Rooms> rooms_;
};

}  // namespace manyspan
