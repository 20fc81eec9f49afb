#include "apps/interrupt.h"

#include <atomic>
#include <csignal>
#include <unistd.h>

#include "apps/status.h"

namespace manyspan::app {
namespace {

std::atomic<Cancel*> watched{nullptr};
std::atomic<bool> outlived{false};
// Or a signal handler may not touch them.
static_assert(std::atomic<Cancel*>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void on_interrupt(int) {
  Cancel* cancel = watched.load(std::memory_order_relaxed);
  if (cancel == nullptr) return;
  if (cancel->requested() && !outlived.load(std::memory_order_relaxed)) {
    _exit(static_cast<int>(Status::interrupted));
  }
  cancel->request();
}

}  // namespace

Cancel* watch_interrupts(Cancel& cancel) {
  Cancel* before = watched.exchange(&cancel, std::memory_order_relaxed);
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  return before;
}

void outlive_interrupts() { outlived.store(true, std::memory_order_relaxed); }

}  // namespace manyspan::app
