#include "device/sim_order.h"

namespace manyspan {

// SplitMix64.
std::uint64_t SimOrder::random() {
  std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::uint32_t SimOrder::pick(std::span<const std::uint32_t> runnable) {
  if (left_ == 0) {
    bias_ = static_cast<Bias>(random() % 3);
    queue_ = runnable[below(runnable.size())];
    left_ = std::uint64_t{1} << below(9);
  }
  --left_;
  std::uint32_t chosen = runnable[below(runnable.size())];
  for (std::size_t i = 0; i < runnable.size(); ++i) {
    if (bias_ == Bias::favour && runnable[i] == queue_) chosen = queue_;
    // The one behind the starved one, around the list.
    if (bias_ == Bias::starve && chosen == queue_ && runnable[i] == queue_)
      chosen = runnable[(i + 1) % runnable.size()];
  }
  digest_ = (digest_ ^ chosen) * 0x100000001b3u + 1;
  return chosen;
}

}  // namespace manyspan
