// Device — a place where bytes live and work is done: the host, one GPU, or a simulated device.
//
// Work goes through queues. Enqueuing cannot fail: a device keeps its fault, and finish() tells it, once a
// step. What is ordered and what is not is said by events, and by nothing else.
//
// Owns       a Device owns the memory it allocates; queues and events must not outlive it
// Threads    one thread at a time for each queue; allocation from one thread
// Spec       interfaces.md A2
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/result.h"
#include "device/buffer.h"

namespace manyspan {

class Device;

// A point in a queue's work that others can wait for.
class Event {
 public:
  virtual ~Event() = default;
};

enum class QueueKind { main, side, copy };

// Work done in order, at once or later.
class Queue {
 public:
  virtual ~Queue() = default;

  virtual Device& device() = 0;

  // Bytes from one place to another; either may be this queue's device or any other.
  virtual void copy(Device& to_place, void* to, Device& from_place, const void* from, std::size_t bytes) = 0;

  virtual void record(Event&) = 0;  // the event happens when all work enqueued so far is done
  virtual void wait(
      const Event&) = 0;  // later work of this queue starts after the event; never blocks the caller

  // Waits for all enqueued work.
  // Errors: device_lost, for any work of the device since this was last told
  virtual Result<void> finish() = 0;
  // Waits for the event only, which may be of any queue; what was enqueued after it goes on.
  virtual Result<void> finish(const Event&) = 0;
};

class Device {
 public:
  virtual ~Device() = default;

  virtual std::string name() const = 0;  // "cpu", "gpu 0 (NVIDIA H200)"

  // Uninitialised bytes, aligned to 256. At load only: a step never allocates.
  // Errors: exhausted
  virtual Result<Buffer> allocate(std::size_t bytes) = 0;
  virtual Result<std::unique_ptr<Queue>> queue(QueueKind) = 0;
  virtual Result<std::unique_ptr<Event>> event() = 0;
};

}  // namespace manyspan
