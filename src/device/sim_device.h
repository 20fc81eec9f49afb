// sim_device — a world of simulated devices, which stand in for GPUs in tests: late, unkind and watchful.
//
// Each device has an address space of its own: allocate() gives addresses that nobody can read or write, and
// only the device's own queues know where the bytes are. Bytes are 0xFF before they are first written. An
// address is never given out twice.
//
// Queues are late: nothing runs when it is enqueued. finish() and drain() run items one by one, each time
// from a queue that the seed picks among all queues whose next item may run; sometimes one queue is starved
// as long as possible, sometimes one runs as far as it can. The same calls with the same seed run in the same
// order. Host bytes of a copy are read or written when the copy runs, so the caller keeps them until then.
//
// A wait is for the record() that was enqueued last before it; a wait for an event never recorded passes.
// What no event orders, and no finish() in between, may not touch the same bytes, if one of the two writes:
// such a race is a fault even where this order happened to be a good one (a pool counts as one thing).
//
// A fault is kept by the device whose queue ran the item, and told by the next finish() of any of its queues.
// From the fault until it is told the device skips all operations and copies, also those enqueued before the
// telling and run after it; its events happen nevertheless, so nobody hangs, and whoever waited for them sees
// old bytes or poison: who takes a result must finish() every device that had a part in it. Then the device
// works again.
//
// A queue that is destroyed drops its work. Events that it was to record then never happen, and a queue that
// waits for one is a fault ("waits for ever").
//
// Requires   buffers, queues and events do not outlive the world; at most 256 GiB allocated on a device in
//            its life
// Errors     allocate: exhausted · finish: device_lost, naming device, operation and field
// Threads    one at a time for the whole world, also where queues run at once
// Spec       house.md 0.4; interfaces.md A2, A5
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/device.h"

namespace manyspan {

class SimBody;

struct SimOptions {
  int devices = 2;
  std::uint64_t seed = 0;
  std::size_t bytes = 0;  // of each device; 0: no bound
  int threads = 1;        // of the team inside an operation
  bool detect_races = true;
  bool dry = false;  // work is counted and never done: to see what a step asks for, at any size
  // Queues run at the same time, each as soon as it may, in a thread of its own: for speed, where seed and race detector
  // have no say. See take_time().
  bool at_once = false;
};

// What a queue did, where queues run at once.
struct SimSpan {
  int device;
  QueueKind queue;
  std::string_view name;  // the operation's, or "copy"
  // Seconds since the world began: from when the queue could go on with it, to its end with the time it was told to take.
  double from, to;
};

class SimWorld {
 public:
  // Errors: exhausted, where the system gives no addresses
  static Result<std::unique_ptr<SimWorld>> create(const SimOptions& options);
  ~SimWorld();

  int devices() const;
  Device& device(int i);

  // Runs everything that any queue holds. Faults stay with their devices.
  void drain();

  std::int64_t live_buffers() const;
  std::size_t bytes_in_use(int device) const;

  // From now on whatever a queue does up to and with an operation of this name takes at least so long, from when the
  // queue last waited or the one before ended: where work runs at once. Bytes are computed meanwhile.
  void take_time(int device, const std::string& operation, std::chrono::microseconds time);

  // Every operation and copy since the last call, in no order; the first call begins keeping them. Where work runs at once.
  std::vector<SimSpan> take_spans();

  // What is to go wrong; 0 is the next one from now, in the order of the calls.
  void fail_operation(int device, std::int64_t after);
  void delay_copy(int device, std::int64_t after);  // it runs only when nothing else can
  void refuse_allocation(std::int64_t after);       // of any device

  // The same as if a line of the program were missing: a copy that is not made, a queue that does not wait
  // for an event (one that was recorded; others are passed by anyhow and don't count).
  void forget_copy(int device, std::int64_t after);
  void forget_wait(int device, std::int64_t after);

  // What forgetting has cost. A copy that would have written what was there already costs nothing, nor does a
  // wait for what other events or the host had put in order. `what` is the last thing forgotten.
  struct Forgotten {
    std::int64_t copies = 0, waits = 0;            // all
    std::int64_t lost_copies = 0, lost_waits = 0;  // of them, those that were needed
    std::string what;  // "copy from sim 0 to sim 1 by sim 0 copy", "sim 1 main's wait for sim 0 copy"
  };
  const Forgotten& forgotten() const;

  // Since the world began.
  struct Counts {
    std::int64_t operations_main = 0;
    std::int64_t operations_side = 0;  // of all other queues
    std::int64_t copies = 0;
    std::int64_t waits = 0;  // of its queues, for events that were recorded
    std::int64_t allocations = 0;
    std::int64_t waits_by_host = 0;  // calls of finish()
  };
  Counts counts(int device) const;

  // A number that differs, almost surely, where the order in which items ran differs.
  std::uint64_t order() const;

  // What the operations of a table find by SimQueue::table(); borrowed. See kernels/simulated.h.
  void set_table(int device, const void* table);

 private:
  explicit SimWorld(std::unique_ptr<SimBody> body);
  std::unique_ptr<SimBody> body_;
};

}  // namespace manyspan
