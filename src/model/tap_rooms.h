// TapRooms — room on a device for taps that operations fill themselves, and how it comes home.
//
// Only a traced step allocates here; such a step is for conformance, not for speed.
//
// Owns       the rooms, until clear(), which must come after the step has finished
// Errors     kept: the first one stays, rooms are null from then on, and done() tells it
// Threads    the thread that runs the step
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "tensor/view.h"

namespace manyspan {

class TapRooms {
 public:
  TapRooms(Device& device, Device& host) : device_(device), host_(host) {}

  // Dense room for what shall end in `home`, rows on the host. It holds what `home` holds.
  template <class T>
  Rows<T> room(Queue& queue, const Rows<T>& home) {
    auto* data = take(queue, {reinterpret_cast<std::byte*>(home.data), home.rows,
                              home.cols * std::int64_t{sizeof(T)}, home.stride * std::int64_t{sizeof(T)}});
    return {reinterpret_cast<T*>(data), home.rows, home.cols, home.cols};
  }

  // Enqueues the way home of every room taken since the last call.
  void bring_home(Queue& queue);

  Result<void> done();
  void clear() { rooms_.clear(); }

 private:
  struct Room {
    Buffer memory;
    Rows<std::byte> home;
    bool home_bound;
  };
  std::byte* take(Queue& queue, const Rows<std::byte>& home);

  Device& device_;
  Device& host_;
  std::vector<Room> rooms_;
  std::optional<Error> failed_;
};

}  // namespace manyspan
