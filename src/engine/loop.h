// Loop — the one thread that runs the model: what was posted to it, then a step of all turns, and again.
//
// Callers post work and wait for it. Whatever touches Sessions or the Scheduler does so in posted work; no
// lock is held while it or a step runs. With nothing to do the thread sleeps.
//
// Requires   nobody calls once destruction has begun; who is inside by then is waited for
// Owns       the thread and the scheduler; borrows the sessions
// Errors     open: exhausted: no thread · posted work's own, and exhausted where it runs out of memory
// Threads    any thread but its own may call; posted work runs on its own
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "engine/guarded.h"
#include "session/scheduler.h"
#include "session/sessions.h"

namespace manyspan {

class Loop {
 public:
  static Result<std::unique_ptr<Loop>> open(Sessions& sessions, const Limits& limits,
                                            const Scheduler::Options& options);
  // Cancels all turns, waits until every caller has left, and ends the thread.
  ~Loop();

  // Runs `body(sessions, scheduler)` on the thread, between steps, and returns its Result. Steps may be under
  // way: a body that needs that none is settles the scheduler.
  template <class Body>
  auto call(const char* doing, Body&& body)
      -> decltype(body(std::declval<Sessions&>(), std::declval<Scheduler&>())) {
    std::optional<decltype(body(sessions_, scheduler_))> result;
    const auto work = [&] { result.emplace(guarded(doing, [&] { return body(sessions_, scheduler_); })); };
    run(std::ref(work));  // a reference, so that posting allocates nothing
    return std::move(*result);
  }

  // Of a caller who uses what the engine owns beyond one call.
  class Visit {
   public:
    explicit Visit(Loop& loop);
    ~Visit();
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

   private:
    Loop& loop_;
  };

 private:
  // On the stack of whoever posts it.
  struct Posted {
    const std::function<void()>& body;
    bool done = false;
  };
  Loop(Sessions& sessions, const Limits& limits, const Scheduler::Options& options);
  void run(const std::function<void()>& body);
  void work();
  enum class Asked : std::uint8_t { go_on, cancel_all, end };
  Asked await(std::vector<Posted*>& posted, bool idle);
  bool step(bool closing);

  Sessions& sessions_;
  Scheduler scheduler_;  // the thread's

  std::mutex mutex_;
  std::condition_variable posted_, done_, left_;
  std::vector<Posted*> inbox_;
  int inside_ = 0;  // callers
  Asked asked_ = Asked::go_on;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace manyspan
