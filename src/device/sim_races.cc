#include "device/sim_races.h"

#include <algorithm>

namespace manyspan {
namespace {

// Of two matrices with the same stride, column ranges that do not meet never do.
bool columns_meet(const SimAccess& a, const SimAccess& b) {
  if (a.stride == 0 || a.stride != b.stride) return true;
  const std::int64_t apart = static_cast<std::int64_t>(b.begin - a.begin) % a.stride;
  const std::int64_t from = apart < 0 ? apart + a.stride : apart;
  return from < a.row_bytes || from + b.row_bytes > a.stride;
}

bool meet(const SimAccess& a, const SimAccess& b) {
  return a.begin < b.end && b.begin < a.end && columns_meet(a, b);
}

bool covers(const SimAccess& all, const SimAccess& part) {
  if (part.begin < all.begin || part.end > all.end) return false;
  return all.stride == 0 ||
         (all.stride == part.stride && all.begin == part.begin && all.row_bytes >= part.row_bytes);
}

}  // namespace

void SimClock::set(std::uint32_t queue, std::uint64_t count) {
  if (queue >= counts_.size()) counts_.resize(queue + 1, 0);
  counts_[queue] = count;
}

void SimClock::join(const SimClock& other) {
  if (other.counts_.size() > counts_.size()) counts_.resize(other.counts_.size(), 0);
  for (std::size_t q = 0; q < other.counts_.size(); ++q) counts_[q] = std::max(counts_[q], other.counts_[q]);
}

SimAccess SimAccess::over(std::uintptr_t address, const SimExtent& extent, std::uintptr_t buffer_end) const {
  SimAccess a = *this;
  a.begin = address;
  a.end = extent.rest ? buffer_end : address + static_cast<std::uintptr_t>(extent.bytes());
  if (!extent.rest && extent.rows > 1 && extent.row_bytes < extent.stride) {
    a.row_bytes = extent.row_bytes;
    a.stride = extent.stride;
  }
  return a;
}

std::optional<SimAccess> SimAccesses::note(const SimAccess& now, const SimClock& past, const SimClock& host) {
  std::optional<SimAccess> race;
  std::size_t kept = 0;
  for (const SimAccess& a : list_) {
    if (host.of(a.queue) >= a.count) continue;  // in the past of all that is still to come
    const bool before = past.of(a.queue) >= a.count;
    if (!before && !race && (a.writes || now.writes) && meet(a, now)) race = a;
    // Whoever races with `a` from now on races with `now` as well, unless only `a` writes.
    if (before && (now.writes || !a.writes) && covers(now, a)) continue;
    if (&list_[kept] != &a) list_[kept] = a;
    ++kept;
  }
  list_.resize(kept);
  list_.push_back(now);
  return race;
}

}  // namespace manyspan
