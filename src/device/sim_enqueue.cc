#include "base/check.h"
#include "device/sim_body_impl.h"

namespace manyspan {

// Notes what an operation says that it will touch.
class SimTold final : public SimOperation::Touches {
 public:
  SimTold(SimBody& body, std::uint32_t lane, SimItem& item) : body_(body), lane_(lane), item_(item) {}

  void touch(Field field, const void* address, const SimExtent& extent, bool writes) override {
    body_.note(item_, body_.access(lane_, item_.operation->name(), field, writes),
               body_.lanes_[lane_]->device, address, extent);
  }

 private:
  SimBody& body_;
  std::uint32_t lane_;
  SimItem& item_;
};

SimPlace& SimBody::place(int device) {
  CHECK(device >= 0 && device < static_cast<int>(places.size()), "a device of this world");
  return places[device];
}

std::uint32_t SimBody::open_lane(int device, QueueKind kind) {
  const auto held = hold();
  std::uint32_t i = 0;
  while (i < lanes_.size() && (lanes_[i]->open || lanes_[i]->device != device || lanes_[i]->kind != kind)) {
    ++i;
  }
  if (i == lanes_.size()) {
    lanes_.push_back(std::make_unique<SimLane>());
    lanes_[i]->device = device;
    lanes_[i]->kind = kind;
    if (at_once_) {
      lanes_[i]->host = std::make_unique<HostDevice>(threads_);
      lanes_[i]->host_queue = lanes_[i]->host->queue(QueueKind::main).value();
      lanes_[i]->thread = std::thread([this, i] { serve(i); });
    }
  }
  lanes_[i]->open = true;
  return i;
}

void SimBody::close_lane(std::uint32_t lane) {
  auto held = hold();
  lanes_[lane]->items.clear();
  if (at_once_) wait_until(held, [&] { return !lanes_[lane]->busy; });
  lanes_[lane]->open = false;
  host_past_.set(lane, lanes_[lane]->count);  // what never runs races with nothing
}

SimItem& SimBody::push(std::uint32_t lane, SimItem::Kind kind) {
  SimLane& l = *lanes_[lane];
  l.past.join(host_past_);
  l.past.set(lane, ++l.count);
  SimItem& item = l.items.emplace_back();
  item.kind = kind;
  item.number = numbers_++;
  if (at_once_) l.wake.notify_all();
  return item;
}

void SimBody::enqueue(std::uint32_t lane, std::unique_ptr<SimOperation> operation) {
  const auto held = hold();
  const SimLane& l = *lanes_[lane];
  SimPlace& place = places[l.device];
  SimWorld::Counts& c = place.counts;
  if (dry_) {
    ++(l.kind == QueueKind::main ? c.operations_main : c.operations_side);
    return;
  }
  SimItem& item = push(lane, SimItem::Kind::operation);
  item.operation = std::move(operation);
  if (place.fails.erase(c.operations_main + c.operations_side) != 0) {
    item.fault = std::string(item.operation->name()) + " fails as it was told to";
  }
  ++(l.kind == QueueKind::main ? c.operations_main : c.operations_side);
  if (!detect_races_) return;
  SimTold told(*this, lane, item);
  item.operation->touches(told);
}

void SimBody::copy(std::uint32_t lane, SimItem::End to, SimItem::End from, std::size_t bytes) {
  const auto held = hold();
  SimPlace& place = places[lanes_[lane]->device];
  const std::int64_t count = place.counts.copies++;
  if (dry_) return;
  SimItem& item = push(lane, SimItem::Kind::copy);
  item.to = to;
  item.from = from;
  item.bytes = bytes;
  item.late = place.delays.erase(count) != 0;
  item.forgotten = place.forgets_copy.erase(count) != 0;
  if (item.forgotten) {
    ++forgotten.copies;
    forgotten.what = "copy from " + end_name(from) + " to " + end_name(to) + " by " + label(lane);
    return;
  }
  if (!detect_races_) return;
  const SimExtent extent{.row_bytes = static_cast<std::int64_t>(bytes)};
  note(item, access(lane, "copy", "from", false), from.device, from.address, extent);
  note(item, access(lane, "copy", "to", true), to.device, to.address, extent);
}

void SimBody::record(std::uint32_t lane, SimEvent& event) {
  const auto held = hold();
  if (dry_) return;
  SimItem& item = push(lane, SimItem::Kind::record);
  event.moment = item.moment = std::make_shared<SimMoment>();
  item.moment->queue = lane;
  item.moment->clock = lanes_[lane]->past;
}

void SimBody::wait(std::uint32_t lane, const SimEvent& event) {
  const auto held = hold();
  if (event.moment == nullptr) return;
  SimPlace& place = places[lanes_[lane]->device];
  if (place.forgets_wait.erase(place.counts.waits++) != 0) {
    const std::uint32_t queue = event.moment->queue;
    const std::uint64_t moment = event.moment->clock.of(queue);
    ++forgotten.waits;
    if (lanes_[lane]->past.of(queue) < moment && host_past_.of(queue) < moment) ++forgotten.lost_waits;
    forgotten.what = label(lane) + "'s wait for " + label(queue);
    return;
  }
  push(lane, SimItem::Kind::wait).moment = event.moment;
  lanes_[lane]->past.join(event.moment->clock);
}

SimAccess SimBody::access(std::uint32_t lane, const char* operation, Field field, bool writes) const {
  SimAccess a;
  a.queue = lane;
  a.count = lanes_[lane]->count;
  a.operation = operation;
  a.field = field;
  a.writes = writes;
  return a;
}

// Addresses that lead nowhere are left to the run, which says so.
void SimBody::note(SimItem& item, SimAccess access, int place, const void* address, const SimExtent& extent) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  SimMemory::Block* block = nullptr;
  if (place >= 0) {
    block = places[place].memory->block(address);
    if (block == nullptr || block->data == nullptr) return;
  }
  const SimAccess now = access.over(at, extent, block == nullptr ? at : block->end());
  if (now.begin >= now.end) return;
  SimAccesses& accesses = block == nullptr ? host_accesses_ : block->accesses;
  const auto race = accesses.note(now, lanes_[now.queue]->past, host_past_);
  if (!race || !item.fault.empty()) return;
  item.fault = std::string(now.operation) + "." + now.field.text() + " races " + race->operation + "." +
               race->field.text() + " of " + label(race->queue) + ": no event orders them";
}

}  // namespace manyspan
