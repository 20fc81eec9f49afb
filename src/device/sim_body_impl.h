// SimBody — what a simulated world is made of: memories, queues full of items, and the loop that runs them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "device/host_device.h"
#include "device/sim_device.h"
#include "device/sim_memory.h"
#include "device/sim_operation.h"
#include "device/sim_order.h"
#include "device/sim_races.h"

namespace manyspan {

// One call of record(). An event holds its last one; a wait holds the one that it is for.
struct SimMoment {
  bool happened = false;
  std::uint32_t queue = 0;                        // that records it
  SimClock clock;                                 // what is before it
  std::vector<std::condition_variable*> waiting;  // of queues that run at once
};

class SimEvent final : public Event {
 public:
  std::shared_ptr<SimMoment> moment;  // null: never recorded
};

struct SimItem {
  enum class Kind : std::uint8_t { operation, copy, record, wait };
  Kind kind = Kind::wait;
  bool late = false;
  bool forgotten = false;    // a copy that is only looked at
  std::uint64_t number = 0;  // in the order of the calls
  std::string fault;         // what it will fail with, known already
  std::shared_ptr<SimMoment> moment;
  std::unique_ptr<SimOperation> operation;
  struct End {
    int device = -1;  // -1: the host
    void* address = nullptr;
  };
  End to, from;
  std::size_t bytes = 0;
};

// A queue's work. It stays when the queue is destroyed, to be used again by the next of its kind.
struct SimLane {
  int device = 0;
  QueueKind kind = QueueKind::main;
  bool open = false;
  std::deque<SimItem> items;
  SimClock past;            // of what is enqueued next
  std::uint64_t count = 0;  // of items ever

  // Where queues run at once.
  bool busy = false;
  std::chrono::steady_clock::time_point since{};  // it has worked without waiting, or a set time was over
  std::chrono::steady_clock::time_point free{};   // it has had an item to go on with
  std::condition_variable wake;
  std::unique_ptr<HostDevice> host;
  std::unique_ptr<Queue> host_queue;
  std::thread thread;
};

struct SimPlace {
  std::unique_ptr<SimMemory> memory;
  std::unique_ptr<Device> device;
  const void* table = nullptr;
  std::map<std::string, std::chrono::microseconds> times;  // by the operation that ends each
  SimWorld::Counts counts;
  // Operations, copies and waits that are to go wrong, by their number.
  std::set<std::int64_t> fails, delays, forgets_copy, forgets_wait;
  std::string fault;             // empty: none
  std::uint64_t skip_below = 0;  // items enqueued before the last fault was told
};

class SimBody {
 public:
  explicit SimBody(const SimOptions& options);
  ~SimBody();

  // Held by every call from outside where queues run at once; else it holds nothing.
  std::unique_lock<std::mutex> hold();

  // Enqueuing, in the lane's order.
  std::uint32_t open_lane(int device, QueueKind kind);
  void close_lane(std::uint32_t lane);
  void enqueue(std::uint32_t lane, std::unique_ptr<SimOperation> operation);
  void copy(std::uint32_t lane, SimItem::End to, SimItem::End from, std::size_t bytes);
  void record(std::uint32_t lane, SimEvent& event);
  void wait(std::uint32_t lane, const SimEvent& event);

  // Running.
  Result<void> finish(std::uint32_t lane);
  Result<void> finish(std::uint32_t lane, const SimEvent& event);
  void drain();

  SimPlace& place(int device);

  std::vector<SimPlace> places;
  std::int64_t allocations = 0;
  bool keep_spans = false;
  std::vector<SimSpan> spans;
  std::set<std::int64_t> refusals;
  SimWorld::Forgotten forgotten;
  SimOrder order;

 private:
  friend class SimTold;
  friend class SimFound;

  SimItem& push(std::uint32_t lane, SimItem::Kind kind);
  void note(SimItem& item, SimAccess access, int place, const void* address, const SimExtent& extent);
  SimAccess access(std::uint32_t lane, const char* operation, Field field, bool writes) const;

  Result<void> tell(SimPlace& place);
  void run_until_empty(const SimLane* target);  // null: all
  void run_some();
  bool anything_left() const;
  bool gather_runnable(bool late_too);
  void run_one(std::uint32_t lane);
  void run(std::uint32_t lane, SimItem& item, Queue& host);
  // Where queues run at once: a queue's thread, and the host's waiting for it.
  void serve(std::uint32_t lane);
  void wait_until(std::unique_lock<std::mutex>& held, const std::function<bool()>& done);
  std::string run_copy(const SimItem& item);
  std::string end_name(const SimItem::End& end) const;
  bool give_up_waits();
  std::string label(std::uint32_t lane) const;
  void* find(SimItem::End end, std::size_t bytes, std::string& why);
  std::string address_of(const void* address, int device) const;

  HostDevice host_;
  std::unique_ptr<Queue> host_queue_;
  bool detect_races_, dry_, at_once_;
  int threads_;
  std::vector<std::unique_ptr<SimLane>> lanes_;
  std::uint64_t numbers_ = 0;
  SimClock host_past_;
  SimAccesses host_accesses_;
  std::vector<std::uint32_t> ready_;  // scratch of the loop
  std::mutex mutex_;                  // of all of it but the bytes, where queues run at once
  std::condition_variable host_wake_;
  bool closing_ = false;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace manyspan
