#include "engine/loop.h"

#include <system_error>
#include <utility>

namespace manyspan {

Loop::Loop(Sessions& sessions, const Limits& limits, const Scheduler::Options& options)
    : sessions_(sessions), scheduler_(sessions, limits, options) {}

Result<std::unique_ptr<Loop>> Loop::open(Sessions& sessions, const Limits& limits,
                                         const Scheduler::Options& options) {
  std::unique_ptr<Loop> loop(new Loop(sessions, limits, options));
  try {
    loop->thread_ = std::thread([l = loop.get()] { l->work(); });
  } catch (const std::system_error&) {
    return Error(Fault::exhausted, "the system gives no thread to run the model on");
  }
  return loop;
}

Loop::~Loop() {
  if (!thread_.joinable()) return;
  {
    std::unique_lock lock(mutex_);
    asked_ = Asked::cancel_all;
    posted_.notify_one();
    left_.wait(lock, [&] { return inside_ == 0; });
    asked_ = Asked::end;
    posted_.notify_one();
  }
  thread_.join();
}

Loop::Visit::Visit(Loop& loop) : loop_(loop) {
  const std::lock_guard lock(loop_.mutex_);
  ++loop_.inside_;
}

// The last to leave tells so under the lock: the loop may be gone as soon as it is free.
Loop::Visit::~Visit() {
  const std::lock_guard lock(loop_.mutex_);
  if (--loop_.inside_ == 0) loop_.left_.notify_all();
}

void Loop::run(const std::function<void()>& body) {
  const Visit visit(*this);
  Posted posted{body};
  std::unique_lock lock(mutex_);
  inbox_.push_back(&posted);
  posted_.notify_one();
  done_.wait(lock, [&] { return posted.done; });
}

// Takes what was posted; with nothing else to do, waits for it.
Loop::Asked Loop::await(std::vector<Posted*>& posted, bool idle) {
  std::unique_lock lock(mutex_);
  if (idle) posted_.wait(lock, [&] { return asked_ == Asked::end || !inbox_.empty(); });
  posted.swap(inbox_);
  return asked_;
}

void Loop::work() {
  std::vector<Posted*> posted;
  bool idle = false;
  for (;;) {
    const Asked asked = await(posted, idle);
    if (asked == Asked::end) return;
    for (Posted* p : posted) {
      p->body();
      const std::lock_guard lock(mutex_);
      p->done = true;
      done_.notify_all();
    }
    posted.clear();
    idle = !step(asked == Asked::cancel_all);
  }
}

// The thread's root: what the standard library throws ends here, and everybody is told.
bool Loop::step(bool closing) {
  const auto stepped = guarded("running a step", [&]() -> Result<bool> {
    if (closing) {
      for (const Scheduler::TurnId id : scheduler_.all_turns()) scheduler_.cancel(id);
    }
    return scheduler_.work();
  });
  if (stepped.ok()) return stepped.value();
  scheduler_.abandon(stepped.error());
  return true;
}

}  // namespace manyspan
