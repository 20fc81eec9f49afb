#include "device/host_device.h"

#include <cstring>
#include <new>

#include "base/check.h"

namespace manyspan {
namespace {

constexpr std::align_val_t kAlignment{256};

class HostEvent final : public Event {};

class HostQueue final : public Queue {
 public:
  explicit HostQueue(HostDevice& device) : device_(device) {}

  Device& device() override { return device_; }
  void copy(Device&, void* to, Device&, const void* from, std::size_t bytes) override {
    if (bytes != 0) std::memcpy(to, from, bytes);
  }
  void record(Event&) override {}      // all earlier work is done already
  void wait(const Event&) override {}  // and so is what the event stands for
  Result<void> finish() override { return {}; }
  Result<void> finish(const Event&) override { return {}; }

  HostDevice& host() { return device_; }

 private:
  HostDevice& device_;
};

}  // namespace

Result<Buffer> HostDevice::allocate(std::size_t bytes) {
  void* data = ::operator new(bytes == 0 ? 1 : bytes, kAlignment, std::nothrow);
  if (data == nullptr)
    return Error(Fault::exhausted, "cpu: no " + std::to_string(bytes) + " bytes of memory");
  return Buffer(
      static_cast<std::byte*>(data), bytes,
      [](void*, std::byte* p, std::size_t) { ::operator delete(p, kAlignment); }, nullptr);
}

Result<std::unique_ptr<Queue>> HostDevice::queue(QueueKind) {
  return std::unique_ptr<Queue>(std::make_unique<HostQueue>(*this));
}

Result<std::unique_ptr<Event>> HostDevice::event() {
  return std::unique_ptr<Event>(std::make_unique<HostEvent>());
}

Workers& workers_of(Queue& queue) {
  auto* host = dynamic_cast<HostQueue*>(&queue);
  CHECK(host != nullptr, "host operations run on a host queue");
  return host->host().workers();
}

}  // namespace manyspan
