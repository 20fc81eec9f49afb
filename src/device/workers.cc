#include "device/workers.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/check.h"

namespace manyspan {
namespace {

// Long enough to bridge the gap between two operations of a step, short enough not to heat an idle machine.
constexpr auto kSpin = std::chrono::microseconds(50);

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

struct Workers::Team {
  std::vector<std::thread> threads;
  bool spins = true;

  // One loop. Written by the caller before `turn` is raised, read by workers after they have seen it.
  std::int64_t count = 0;
  Call call = nullptr;
  void* body = nullptr;
  alignas(64) std::atomic<std::int64_t> next{0};
  alignas(64) std::atomic<int> busy{0};
  alignas(64) std::atomic<std::uint64_t> turn{0};
  std::atomic<bool> stop{false};
  std::atomic<int> parked{0};
  std::mutex mutex;
  std::condition_variable wake;

  void share(int thread) {
    for (;;) {
      const std::int64_t i = next.fetch_add(1, std::memory_order_relaxed);
      if (i >= count) return;
      call(body, i, thread);
    }
  }

  // Returns when the turn is no longer `seen`.
  void await(std::uint64_t seen) {
    if (spins) {
      const auto until = std::chrono::steady_clock::now() + kSpin;
      for (int i = 0; turn.load(std::memory_order_acquire) == seen; ++i) {
        relax();
        if (i % 64 == 63 && std::chrono::steady_clock::now() > until) break;
      }
    }
    if (turn.load(std::memory_order_acquire) != seen) return;
    std::unique_lock lock(mutex);
    parked.fetch_add(1, std::memory_order_seq_cst);
    wake.wait(lock, [&] { return turn.load(std::memory_order_seq_cst) != seen; });
    parked.fetch_sub(1, std::memory_order_relaxed);
  }

  void raise_turn() {
    turn.fetch_add(1, std::memory_order_seq_cst);
    if (parked.load(std::memory_order_seq_cst) != 0) {
      { std::lock_guard lock(mutex); }
      wake.notify_all();
    }
  }

  void work(int thread) {
    for (std::uint64_t seen = 0;;) {
      await(seen);
      seen = turn.load(std::memory_order_acquire);
      if (stop.load(std::memory_order_acquire)) return;
      share(thread);
      busy.fetch_sub(1, std::memory_order_release);
    }
  }
};

Workers::Workers(int threads) : team_(std::make_unique<Team>()) {
  CHECK(threads >= 1, "a team has at least the calling thread");
#if !defined(MANYSPAN_SANITIZED)
  team_->spins = threads <= static_cast<int>(std::thread::hardware_concurrency());
#else
  team_->spins = false;  // instrumented threads crowd each other out
#endif
  team_->threads.reserve(threads - 1);
  for (int t = 1; t < threads; ++t) {
    try {
      team_->threads.emplace_back([team = team_.get(), t] { team->work(t); });
    } catch (const std::system_error&) {
      break;  // the system gives no more threads: a smaller team does the same work
    }
  }
}

Workers::~Workers() {
  team_->stop.store(true, std::memory_order_release);
  team_->raise_turn();
  for (std::thread& t : team_->threads) t.join();
}

int Workers::threads() const { return static_cast<int>(team_->threads.size()) + 1; }

void Workers::run(std::int64_t count, Call call, void* body) {
  Team& t = *team_;
  if (count <= 1 || t.threads.empty()) {
    for (std::int64_t i = 0; i < count; ++i) call(body, i, 0);
    return;
  }
  t.count = count;
  t.call = call;
  t.body = body;
  t.next.store(0, std::memory_order_relaxed);
  t.busy.store(static_cast<int>(t.threads.size()), std::memory_order_relaxed);
  t.raise_turn();
  t.share(0);
  while (t.busy.load(std::memory_order_acquire) != 0) {
    if (t.spins) {
      relax();
    } else {
      std::this_thread::yield();
    }
  }
}

}  // namespace manyspan
