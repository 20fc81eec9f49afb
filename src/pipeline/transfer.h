// Transfer — the way of a carry over one boundary: out of one device's scratch, into another's.
//
// The sender's main queue puts the carry into an outbox and goes on; its copy queue pushes from there into one of a few
// landing places on the other device, which the receiver's main queue empties into its scratch before its layers run.
// So neither side's work waits for the link while there is room, and nothing is overwritten that is still to be read.
//
// Owns       outbox, landing places, and the copy queue; borrows devices
// Threads    the thread that enqueues the steps
// Spec       interfaces.md A2, A12
#pragma once

#include <memory>
#include <vector>

#include "device/device.h"
#include "model/model.h"
#include "model/scratch.h"
#include "pipeline/crossing.h"

namespace manyspan {

class Transfer {
 public:
  // `landings`: places on the other device, at least two.
  // Errors: exhausted
  static Result<std::unique_ptr<Transfer>> create(Device& from, Device& to, const Blueprint& blueprint,
                                                  const Crossing& crossing, const Limits& limits,
                                                  std::int32_t landings);

  // Of the outbox, or of one of the landing places.
  static std::size_t box_bytes(const Blueprint& blueprint, const Crossing& crossing, const Limits& limits);

  // Enqueue the two halves, for `rows` rows: send() for every step once, then land() for it. With Depth::rows only what
  // was published crosses.
  void send(Queue& sender, const Carry& from, std::int64_t rows, Depth depth);
  void land(Queue& receiver, const Carry& to, std::int64_t rows, Depth depth);

  // Nobody will land what was sent so far. Requires: nothing is enqueued
  void forget() { landed_ = sent_; }

  std::int64_t bytes() const {
    return (1 + std::ssize(landings_)) * static_cast<std::int64_t>(outbox_.memory.bytes());
  }
  Result<void> finish() { return copies_->finish(); }

 private:
  // Room for one carry, and the event after which it may be filled again.
  struct Box {
    Buffer memory;
    Carry carry{};
    std::unique_ptr<Event> filled, emptied;
  };
  Transfer(Device& from, Device& to) : from_(from), to_(to) {}
  Result<Box> box(Device& device, const Blueprint& blueprint, const Crossing& crossing, const Limits& limits);
  void copy(Queue& queue, Device& to_place, const Carry& to, Device& from_place, const Carry& from,
            std::int64_t rows, Depth depth) const;

  Device& from_;
  Device& to_;
  std::unique_ptr<Queue> copies_;
  Box outbox_;
  std::vector<Box> landings_;
  std::size_t sent_ = 0, landed_ = 0;
};

}  // namespace manyspan
