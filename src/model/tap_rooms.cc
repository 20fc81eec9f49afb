#include "model/tap_rooms.h"

namespace manyspan {

std::byte* TapRooms::take(Queue& queue, const Rows<std::byte>& home) {
  if (home.data == nullptr || home.rows == 0 || failed_) return nullptr;
  Result<Buffer> memory = device_.allocate(static_cast<std::size_t>(home.rows * home.cols));
  if (!memory.ok()) {
    failed_ = memory.error();
    return nullptr;
  }
  rooms_.push_back({std::move(memory).value(), home, false});
  auto* data = rooms_.back().memory.as<std::byte>();
  for (std::int64_t r = 0; r < home.rows; ++r) {
    queue.copy(device_, data + r * home.cols, host_, home.row(r), home.cols);
  }
  return data;
}

void TapRooms::bring_home(Queue& queue) {
  for (Room& room : rooms_) {
    if (room.home_bound) continue;
    const Rows<std::byte>& home = room.home;
    for (std::int64_t r = 0; r < home.rows; ++r) {
      queue.copy(host_, home.row(r), device_, room.memory.as<std::byte>() + r * home.cols, home.cols);
    }
    room.home_bound = true;
  }
}

Result<void> TapRooms::done() {
  if (!failed_) return {};
  Error error = std::move(*failed_);
  failed_.reset();
  return error;
}

}  // namespace manyspan
