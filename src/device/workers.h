// workers — a team of threads that share out one loop at a time.
//
// Between loops a worker spins for a short while and then parks, so that a step's many small loops cost no
// wake-ups and an idle engine costs no cycles.
//
// Threads    for_each is called by one thread at a time, and does not nest
// Cost       a hand-over to a spinning team is about 0.1 us, to a parked one about 2 us
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace manyspan {

class Workers {
 public:
  // threads ≥ 1, the calling one included; fewer where the system gives no more. With more threads than cores free, the team parks at once.
  explicit Workers(int threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  int threads() const;

  // The body must not throw. Calls body(i, thread) once for every i in [0, count), in any order, on any threads; returns when all are
  // done. `thread` in [0, threads()) is whose scratch to use. What body computes must not depend on it.
  template <class Body>
  void for_each(std::int64_t count, Body&& body) {
    using Plain = std::remove_reference_t<Body>;
    run(
        count, [](void* b, std::int64_t i, int thread) { (*static_cast<Plain*>(b))(i, thread); },
        const_cast<void*>(static_cast<const void*>(&body)));
  }

 private:
  using Call = void (*)(void* body, std::int64_t i, int thread);
  void run(std::int64_t count, Call call, void* body);

  struct Team;
  std::unique_ptr<Team> team_;
};

}  // namespace manyspan
