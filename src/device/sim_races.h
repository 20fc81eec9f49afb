// sim_races — who touched which bytes, and whether anything ordered two who did.
//
// Each queue counts what it was given; a clock says, for every queue, up to which count everything has
// happened before. record() leaves a clock in an event, wait() joins it to the waiter's, finish() joins a
// queue's to the host's, and whatever the host enqueues later is after that. Two accesses to the same bytes,
// one of them a write, race when neither is in the other's past. This looks at what was asked for, not at
// what ran: it finds a missing wait in every order.
//
// Cost       an access is compared with those of its buffer that the host has not waited for since; what a
//            later access stands for is dropped
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "device/field.h"
#include "device/sim_operation.h"

namespace manyspan {

class SimClock {
 public:
  std::uint64_t of(std::uint32_t queue) const { return queue < counts_.size() ? counts_[queue] : 0; }
  void set(std::uint32_t queue, std::uint64_t count);
  void join(const SimClock& other);

 private:
  std::vector<std::uint64_t> counts_;
};

struct SimAccess {
  std::uint32_t queue = 0;
  std::uint64_t count = 0;  // the queue's, of the item that touches
  const char* operation = "";
  Field field = "";
  std::uintptr_t begin = 0, end = 0;
  std::int64_t row_bytes = 0, stride = 0;  // of a matrix with gaps between its rows; stride 0: no gaps
  bool writes = false;

  SimAccess over(std::uintptr_t address, const SimExtent& extent, std::uintptr_t buffer_end) const;
};

// The accesses to one buffer, or to the host's memory.
class SimAccesses {
 public:
  // Notes `now`, of an item that comes after all that is in `past`; the one that it races with, if there is
  // one.
  std::optional<SimAccess> note(const SimAccess& now, const SimClock& past, const SimClock& host);
  std::size_t size() const { return list_.size(); }

 private:
  std::vector<SimAccess> list_;
};

}  // namespace manyspan
