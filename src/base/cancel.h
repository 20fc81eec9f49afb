// Cancel — a flag that a request carries and every long loop looks at.
//
// Threads    any thread may request() or look; once requested it stays so
#pragma once

#include <atomic>

namespace manyspan {

class Cancel {
 public:
  void request() { requested_.store(true, std::memory_order_relaxed); }
  bool requested() const { return requested_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> requested_{false};
};

}  // namespace manyspan
