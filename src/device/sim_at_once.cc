#include "device/sim_body_impl.h"

namespace manyspan {

SimBody::~SimBody() {
  {
    const auto held = hold();
    closing_ = true;
    for (const auto& lane : lanes_) lane->wake.notify_all();
  }
  for (const auto& lane : lanes_) {
    if (lane->thread.joinable()) lane->thread.join();
  }
}

std::unique_lock<std::mutex> SimBody::hold() {
  return at_once_ ? std::unique_lock(mutex_) : std::unique_lock<std::mutex>();
}

void SimBody::wait_until(std::unique_lock<std::mutex>& held, const std::function<bool()>& done) {
  host_wake_.wait(held, done);
}

// One item after another, as soon as its event has happened; the lock is not held while bytes are moved.
void SimBody::serve(std::uint32_t index) {
  auto held = hold();
  SimLane& lane = *lanes_[index];
  const auto wait = [&] {
    lane.wake.wait(held);
    lane.since = lane.free = std::chrono::steady_clock::now();
  };
  while (!closing_) {
    if (lane.items.empty()) {
      wait();
      continue;
    }
    if (const SimItem& head = lane.items.front();
        head.kind == SimItem::Kind::wait && !head.moment->happened) {
      head.moment->waiting.push_back(&lane.wake);
      const SimLane& other = *lanes_[head.moment->queue];
      const auto since = lane.since, free = lane.free;
      wait();
      // What its own side queue does is the device's work too.
      if (other.device == lane.device && other.kind == QueueKind::side) lane.since = since, lane.free = free;
      continue;
    }
    SimItem item = std::move(lane.items.front());
    lane.items.pop_front();
    if (item.kind == SimItem::Kind::record) {
      item.moment->happened = true;
      for (std::condition_variable* queue : item.moment->waiting) queue->notify_all();
    }
    if (item.kind == SimItem::Kind::operation || item.kind == SimItem::Kind::copy) {
      lane.busy = true;
      const auto& times = places[lane.device].times;
      const auto time = item.operation == nullptr ? times.end() : times.find(item.operation->name());
      const bool paced = time != times.end();
      const auto over = paced ? lane.since + time->second : lane.since;
      held.unlock();
      run(index, item, *lane.host_queue);
      if (paced) std::this_thread::sleep_until(over);
      const auto to = std::chrono::steady_clock::now();
      // Awakenings that come late do not add up.
      if (paced) lane.since = to - over < std::chrono::milliseconds(1) ? over : to;
      held.lock();
      lane.busy = false;
      if (keep_spans) {
        const auto seconds = [&](auto at) { return std::chrono::duration<double>(at - began_).count(); };
        const char* name = item.operation == nullptr ? "copy" : item.operation->name();
        spans.push_back({lane.device, lane.kind, name, seconds(lane.free), seconds(to)});
      }
      lane.free = to;
    }
    if (item.kind == SimItem::Kind::record || lane.items.empty()) host_wake_.notify_all();
  }
}

}  // namespace manyspan
