#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "device/sim_body_impl.h"

namespace manyspan {

// Translates an operation's addresses, up to the first that leads nowhere.
class SimFound final : public SimOperation::Translation {
 public:
  SimFound(SimBody& body, int device, const char* operation)
      : body_(body), device_(device), operation_(operation) {}

  void* find(Field field, const void* address, const SimExtent& extent) override {
    if (failed()) return nullptr;
    const auto held = body_.hold();
    std::string why = body_.address_of(address, device_);
    void* found = why.empty() ? body_.places[device_].memory->find(address, extent, why) : nullptr;
    if (found == nullptr) fault_ = std::string(operation_) + "." + field.text() + " " + why;
    return found;
  }
  bool failed() const override { return !fault_.empty(); }
  const std::string& fault() const { return fault_; }

 private:
  SimBody& body_;
  int device_;
  const char* operation_;
  std::string fault_;
};

SimBody::SimBody(const SimOptions& options)
    : order(options.seed),
      host_(options.threads),
      detect_races_(options.detect_races && !options.at_once),
      dry_(options.dry),
      at_once_(options.at_once),
      threads_(options.threads) {
  host_queue_ = host_.queue(QueueKind::main).value();
}

Result<void> SimBody::finish(std::uint32_t lane) {
  auto held = hold();
  SimPlace& place = places[lanes_[lane]->device];
  ++place.counts.waits_by_host;
  if (dry_) return {};
  if (at_once_) {
    wait_until(held, [&] { return lanes_[lane]->items.empty() && !lanes_[lane]->busy; });
  } else {
    run_until_empty(lanes_[lane].get());
  }
  host_past_.join(lanes_[lane]->past);
  return tell(place);
}

Result<void> SimBody::finish(std::uint32_t lane, const SimEvent& event) {
  auto held = hold();
  SimPlace& place = places[lanes_[lane]->device];
  ++place.counts.waits_by_host;
  if (event.moment != nullptr) {
    if (at_once_) wait_until(held, [&] { return event.moment->happened; });
    // A queue that is gone never makes it happen; then what is left runs, and nobody waits.
    while (!event.moment->happened && anything_left()) run_some();
    host_past_.join(event.moment->clock);
  }
  return tell(place);
}

Result<void> SimBody::tell(SimPlace& place) {
  if (place.fault.empty()) return {};
  Error error(Fault::device_lost, place.fault);
  place.fault.clear();
  place.skip_below = numbers_;
  return error;
}

void SimBody::drain() {
  auto held = hold();
  if (at_once_) {
    wait_until(held, [&] {
      return !anything_left() &&
             std::none_of(lanes_.begin(), lanes_.end(), [](const auto& l) { return l->busy; });
    });
  }
  run_until_empty(nullptr);
  for (const auto& lane : lanes_) host_past_.join(lane->past);
}

void SimBody::run_until_empty(const SimLane* target) {
  for (;;) {
    if (target == nullptr ? !anything_left() : target->items.empty()) return;
    run_some();
  }
}

bool SimBody::anything_left() const {
  return std::any_of(lanes_.begin(), lanes_.end(), [](const auto& lane) { return !lane->items.empty(); });
}

void SimBody::run_some() {
  if (gather_runnable(false) || gather_runnable(true)) {
    run_one(order.pick(ready_));
  } else {
    CHECK(give_up_waits(), "a queue that can't go on waits for something");
  }
}

bool SimBody::gather_runnable(bool late_too) {
  ready_.clear();
  for (std::uint32_t i = 0; i < lanes_.size(); ++i) {
    if (lanes_[i]->items.empty()) continue;
    const SimItem& head = lanes_[i]->items.front();
    const bool runs = head.kind == SimItem::Kind::wait ? head.moment->happened : late_too || !head.late;
    if (runs) ready_.push_back(i);
  }
  return !ready_.empty();
}

// Only events of destroyed queues never happen; whoever waits for one goes on, as a device with a fault.
bool SimBody::give_up_waits() {
  bool any = false;
  for (std::uint32_t i = 0; i < lanes_.size(); ++i) {
    SimLane& lane = *lanes_[i];
    if (lane.items.empty() || lane.items.front().kind != SimItem::Kind::wait) continue;
    const SimMoment& moment = *lane.items.front().moment;
    std::string& fault = places[lane.device].fault;
    if (fault.empty()) {
      fault = label(i) + ": waits for ever for an event of " + label(moment.queue) + ", a queue that is gone";
    }
    lane.items.pop_front();
    any = true;
  }
  return any;
}

void SimBody::run_one(std::uint32_t lane) {
  SimItem item = std::move(lanes_[lane]->items.front());
  lanes_[lane]->items.pop_front();
  if (item.kind == SimItem::Kind::record) item.moment->happened = true;
  if (item.kind == SimItem::Kind::operation || item.kind == SimItem::Kind::copy)
    run(lane, item, *host_queue_);
}

void SimBody::run(std::uint32_t lane, SimItem& item, Queue& host) {
  auto held = hold();
  const int device = lanes_[lane]->device;
  if (!places[device].fault.empty() || item.number < places[device].skip_below) return;
  if (held.owns_lock()) held.unlock();  // while bytes are moved
  std::string why = item.fault;
  if (item.kind == SimItem::Kind::operation) {
    if (why.empty()) {
      SimFound found(*this, device, item.operation->name());
      item.operation->run(found, host);
      why = found.fault();
    }
  } else if (why.empty()) {
    why = run_copy(item);
  }
  if (why.empty()) return;
  held = hold();
  places[device].fault = label(lane) + ": " + why;
}

std::string SimBody::run_copy(const SimItem& item) {
  if (item.bytes == 0) return {};
  std::string why;
  const void* from = find(item.from, item.bytes, why);
  if (from == nullptr) return "copy.from " + why;
  void* to = find(item.to, item.bytes, why);
  if (to == nullptr) return "copy.to " + why;
  if (item.forgotten) {
    forgotten.lost_copies += std::memcmp(to, from, item.bytes) != 0;
    return {};
  }
  std::memmove(to, from, item.bytes);
  return {};
}

void* SimBody::find(SimItem::End end, std::size_t bytes, std::string& why) {
  const auto held = hold();
  why = address_of(end.address, end.device);
  if (!why.empty()) return nullptr;
  if (end.device < 0) return end.address;
  return places[end.device].memory->find(end.address, {.row_bytes = static_cast<std::int64_t>(bytes)}, why);
}

// Empty: an address of that device (-1: of the host); else whose it is instead.
std::string SimBody::address_of(const void* address, int device) const {
  if (address == nullptr) return "is null";
  for (int d = 0; d < static_cast<int>(places.size()); ++d) {
    if (places[d].memory->holds(address)) {
      return d == device ? "" : "is an address of " + places[d].memory->name();
    }
  }
  return device < 0 ? "" : "is an address of the host, or of nobody";
}

std::string SimBody::end_name(const SimItem::End& end) const {
  return end.device < 0 ? "the host" : places[end.device].memory->name();
}

std::string SimBody::label(std::uint32_t lane) const {
  const QueueKind kind = lanes_[lane]->kind;
  return places[lanes_[lane]->device].memory->name() + (kind == QueueKind::main   ? " main"
                                                        : kind == QueueKind::side ? " side"
                                                                                  : " copy");
}

}  // namespace manyspan
