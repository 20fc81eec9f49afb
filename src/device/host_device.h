// host_device — the machine's own memory and cores. Its queues are inline: work is done at once.
//
// Threads    one thread at a time uses a queue; the team of workers inside an operation belongs to that
//            thread
#pragma once

#include <memory>
#include <string>

#include "device/device.h"
#include "device/workers.h"

namespace manyspan {

class HostDevice final : public Device {
 public:
  // threads ≥ 1, the calling one included.
  explicit HostDevice(int threads) : workers_(threads) {}

  std::string name() const override { return "cpu"; }
  Result<Buffer> allocate(std::size_t bytes) override;
  Result<std::unique_ptr<Queue>> queue(QueueKind) override;
  Result<std::unique_ptr<Event>> event() override;

  Workers& workers() { return workers_; }

 private:
  Workers workers_;
};

// The team that operations on this queue may use. Requires a queue of a HostDevice.
Workers& workers_of(Queue& queue);

}  // namespace manyspan
