// sim_trial — what a test of simulated devices needs: a world, queues, and one small operation.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/host_device.h"
#include "device/sim_device.h"
#include "device/sim_operation.h"

namespace manyspan {

// to[i] = from[i] + 1
class PlusOne final : public SimOperation {
 public:
  PlusOne(std::int32_t* to, const std::int32_t* from, std::int64_t count)
      : to_(to), from_(from), count_(count) {}

  const char* name() const override { return "plus_one"; }
  void touches(Touches& told) override {
    told.touch("from", from_, extent(), false), told.touch("to", to_, extent(), true);
  }
  void run(Translation& translation, Queue&) override {
    const auto* from = static_cast<const std::int32_t*>(translation.find("from", from_, extent()));
    auto* to = static_cast<std::int32_t*>(translation.find("to", to_, extent()));
    if (translation.failed()) return;
    for (std::int64_t i = 0; i < count_; ++i) to[i] = from[i] + 1;
  }

 private:
  SimExtent extent() const { return {.row_bytes = count_ * 4}; }

  std::int32_t* to_;
  const std::int32_t* from_;
  std::int64_t count_;
};

// A world with a main and a side queue on each device.
struct SimTrial {
  explicit SimTrial(SimOptions options = {}) : world(SimWorld::create(options).value()) {
    for (int d = 0; d < world->devices(); ++d) {
      main.push_back(world->device(d).queue(QueueKind::main).value());
      side.push_back(world->device(d).queue(QueueKind::side).value());
    }
  }

  Buffer ints(int device, std::int64_t count) { return world->device(device).allocate(count * 4).value(); }
  std::unique_ptr<Event> event(int device = 0) { return world->device(device).event().value(); }
  void plus_one(Queue& queue, const Buffer& to, const Buffer& from, std::int64_t count = 4) {
    plus_one(queue, to.as<std::int32_t>(), from.as<std::int32_t>(), count);
  }
  void plus_one(Queue& queue, std::int32_t* to, const std::int32_t* from, std::int64_t count = 4) {
    sim_queue(queue).enqueue(std::make_unique<PlusOne>(to, from, count));
  }
  void up(Queue& queue, const Buffer& to, const std::vector<std::int32_t>& from) {
    queue.copy(queue.device(), to.as<void>(), host, from.data(), from.size() * 4);
  }
  void down(Queue& queue, std::vector<std::int32_t>& to, const Buffer& from) {
    queue.copy(host, to.data(), queue.device(), from.as<void>(), to.size() * 4);
  }
  // Of a finish() that fails.
  static std::string fault(Queue& queue) {
    const Result<void> done = queue.finish();
    return done.ok() ? "no fault" : done.error().message();
  }

  HostDevice host{1};
  std::unique_ptr<SimWorld> world;
  std::vector<std::unique_ptr<Queue>> main, side;
};

}  // namespace manyspan
