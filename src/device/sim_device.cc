#include "device/sim_device.h"

#include <type_traits>
#include <utility>

#include "base/check.h"
#include "device/sim_body_impl.h"

namespace manyspan {
namespace {

class SimDevice final : public Device {
 public:
  SimDevice(SimBody& body, int index) : body_(body), index_(index) {}

  std::string name() const override { return place().memory->name(); }
  Result<Buffer> allocate(std::size_t bytes) override {
    const auto held = body_.hold();
    ++place().counts.allocations;
    if (body_.refusals.erase(body_.allocations++) != 0) {
      return Error(Fault::exhausted,
                   name() + ": no " + std::to_string(bytes) + " bytes of memory: refused as it was told to");
    }
    return place().memory->allocate(bytes);
  }
  Result<std::unique_ptr<Queue>> queue(QueueKind kind) override;
  Result<std::unique_ptr<Event>> event() override {
    return std::unique_ptr<Event>(std::make_unique<SimEvent>());
  }

  SimBody& body() { return body_; }
  int index() const { return index_; }

 private:
  SimPlace& place() const { return body_.places[index_]; }

  SimBody& body_;
  int index_;
};

template <class E>
auto& event_of(E& event) {
  auto* sim = dynamic_cast<std::conditional_t<std::is_const_v<E>, const SimEvent, SimEvent>*>(&event);
  CHECK(sim != nullptr, "an event of a simulated device");
  return *sim;
}

class LateQueue final : public SimQueue {
 public:
  LateQueue(SimDevice& device, QueueKind kind)
      : device_(device), lane_(device.body().open_lane(device.index(), kind)) {}
  ~LateQueue() override { body().close_lane(lane_); }

  Device& device() override { return device_; }
  void copy(Device& to_place, void* to, Device& from_place, const void* from, std::size_t bytes) override {
    body().copy(lane_, {index_of(to_place), to}, {index_of(from_place), const_cast<void*>(from)}, bytes);
  }
  void record(Event& event) override { body().record(lane_, event_of(event)); }
  void wait(const Event& event) override { body().wait(lane_, event_of(event)); }
  Result<void> finish() override { return body().finish(lane_); }
  Result<void> finish(const Event& event) override { return body().finish(lane_, event_of(event)); }
  const void* table() const override { return device_.body().places[device_.index()].table; }
  void enqueue(std::unique_ptr<SimOperation> operation) override {
    body().enqueue(lane_, std::move(operation));
  }

 private:
  SimBody& body() { return device_.body(); }
  int index_of(Device& place) {
    auto* device = dynamic_cast<SimDevice*>(&place);
    CHECK(device == nullptr || &device->body() == &body(), "both ends of a copy are of one world");
    return device == nullptr ? -1 : device->index();
  }

  SimDevice& device_;
  std::uint32_t lane_;
};

Result<std::unique_ptr<Queue>> SimDevice::queue(QueueKind kind) {
  return std::unique_ptr<Queue>(std::make_unique<LateQueue>(*this, kind));
}

}  // namespace

SimQueue& sim_queue(Queue& queue) {
  auto* sim = dynamic_cast<SimQueue*>(&queue);
  CHECK(sim != nullptr, "simulated operations run on a queue of a simulated device");
  return *sim;
}

Result<std::unique_ptr<SimWorld>> SimWorld::create(const SimOptions& options) {
  CHECK(options.devices >= 1 && options.threads >= 1, "a world has a device and a thread");
  auto body = std::make_unique<SimBody>(options);
  body->places.resize(static_cast<std::size_t>(options.devices));
  for (int i = 0; i < options.devices; ++i) {
    SimPlace& place = body->places[i];
    place.memory = TRY(SimMemory::create("sim " + std::to_string(i), options.bytes));
    place.device = std::make_unique<SimDevice>(*body, i);
  }
  return std::unique_ptr<SimWorld>(new SimWorld(std::move(body)));
}

SimWorld::SimWorld(std::unique_ptr<SimBody> body) : body_(std::move(body)) {}
SimWorld::~SimWorld() = default;

int SimWorld::devices() const { return static_cast<int>(body_->places.size()); }
Device& SimWorld::device(int i) { return *body_->place(i).device; }
void SimWorld::drain() { body_->drain(); }

std::int64_t SimWorld::live_buffers() const {
  std::int64_t live = 0;
  for (const SimPlace& place : body_->places) live += place.memory->live();
  return live;
}
std::size_t SimWorld::bytes_in_use(int device) const { return body_->place(device).memory->bytes_in_use(); }

void SimWorld::fail_operation(int device, std::int64_t after) {
  SimPlace& place = body_->place(device);
  place.fails.insert(place.counts.operations_main + place.counts.operations_side + after);
}
void SimWorld::delay_copy(int device, std::int64_t after) {
  SimPlace& place = body_->place(device);
  place.delays.insert(place.counts.copies + after);
}
void SimWorld::forget_copy(int device, std::int64_t after) {
  SimPlace& place = body_->place(device);
  place.forgets_copy.insert(place.counts.copies + after);
}
void SimWorld::forget_wait(int device, std::int64_t after) {
  SimPlace& place = body_->place(device);
  place.forgets_wait.insert(place.counts.waits + after);
}
const SimWorld::Forgotten& SimWorld::forgotten() const { return body_->forgotten; }
void SimWorld::refuse_allocation(std::int64_t after) { body_->refusals.insert(body_->allocations + after); }

SimWorld::Counts SimWorld::counts(int device) const { return body_->place(device).counts; }
void SimWorld::take_time(int device, const std::string& operation, std::chrono::microseconds time) {
  const auto held = body_->hold();
  body_->place(device).times[operation] = time;
}
std::vector<SimSpan> SimWorld::take_spans() {
  const auto held = body_->hold();
  body_->keep_spans = true;
  return std::exchange(body_->spans, {});
}
std::uint64_t SimWorld::order() const { return body_->order.digest(); }
void SimWorld::set_table(int device, const void* table) { body_->place(device).table = table; }

}  // namespace manyspan
