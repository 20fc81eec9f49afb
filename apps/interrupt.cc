#include "apps/interrupt.h"

#include <atomic>
#include <csignal>

namespace manyspan::app {
namespace {

std::atomic<Cancel*> watched{nullptr};
static_assert(std::atomic<Cancel*>::is_always_lock_free);  // or a signal handler may not touch it

void on_interrupt(int) {
  if (Cancel* cancel = watched.load(std::memory_order_relaxed)) cancel->request();
}

}  // namespace

void watch_interrupts(Cancel& cancel) {
  watched.store(&cancel, std::memory_order_relaxed);
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESETHAND;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
}

}  // namespace manyspan::app
