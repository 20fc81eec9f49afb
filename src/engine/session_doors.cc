#include <string>

#include "engine/rooms_impl.h"

namespace manyspan {
namespace {

// Whatever answers a request in the session ends, as cancelled.
void end_turn_in(SessionId session, Scheduler& scheduler) {
  if (const auto turn = scheduler.turn_of(session)) scheduler.cancel(*turn);
}

}  // namespace

Result<SessionId> Engine::open_session() {
  return rooms_->loop->call("opening a session",
                            [](Sessions& sessions, Scheduler&) { return sessions.open(); });
}

void Engine::close_session(SessionId session) {
  const auto closed =
      rooms_->loop->call("closing a session", [&](Sessions& sessions, Scheduler& scheduler) -> Result<void> {
        end_turn_in(session, scheduler);
        sessions.close(session);
        return {};
      });
  CHECK(closed.ok(), "closing takes no memory");
}

void Engine::reset_session(SessionId session) {
  const auto reset = rooms_->loop->call("resetting a session",
                                        [&](Sessions& sessions, Scheduler& scheduler) -> Result<void> {
                                          end_turn_in(session, scheduler);
                                          sessions.reset(session);
                                          return {};
                                        });
  CHECK(reset.ok(), "resetting takes no memory");
}

Result<SessionId> Engine::fork_session(SessionId session) {
  return rooms_->loop->call("forking a session", [&](Sessions& sessions, Scheduler& scheduler) {
    scheduler.settle();
    return sessions.fork(session);
  });
}

std::int64_t Engine::session_length(SessionId session) const {
  return rooms_->loop
      ->call("measuring a session",
             [&](Sessions& sessions, Scheduler&) -> Result<std::int64_t> {
               return sessions.timeline(session).length();
             })
      .value();
}

Result<void> Engine::truncate_session(SessionId session, std::int64_t length) {
  const auto truncate = [&](Sessions& sessions, Scheduler& scheduler) -> Result<void> {
    scheduler.settle();
    if (scheduler.turn_of(session))
      return Error(Fault::invalid, "the session is answering a request; end that first");
    if (const std::int64_t held = sessions.timeline(session).length(); length < 0 || length > held) {
      return Error(Fault::invalid, "a length of " + std::to_string(length) + "; the session has " +
                                       std::to_string(held) + " tokens");
    }
    auto done = guarded("shortening a session", [&] { return sessions.truncate(session, length); });
    if (!done.ok()) sessions.reset(session);
    return done;
  };
  return rooms_->loop->call("shortening a session", truncate);
}

Result<void> Engine::save_session(SessionId session, const std::string& path) {
  return rooms_->loop->call("saving a session", [&](Sessions& sessions, Scheduler& scheduler) {
    scheduler.settle();
    auto saved = sessions.snapshot(session, rooms_->origin, path);
    // One that a prompt has left half done is made whole first; where that fails it is empty, and nobody goes on in it.
    if (!saved.ok() && sessions.timeline(session).length() == 0) end_turn_in(session, scheduler);
    return saved;
  });
}

Result<SessionId> Engine::load_session(const std::string& path) {
  return rooms_->loop->call("loading a session", [&](Sessions& sessions, Scheduler& scheduler) {
    scheduler.settle();
    return sessions.restore(rooms_->origin, path);
  });
}

}  // namespace manyspan
