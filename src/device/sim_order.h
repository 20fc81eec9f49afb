// sim_order — which queue goes next, by a seed and with a bias that changes.
//
// A fair draw at every item seldom lets one queue fall far behind. So for a while one queue is starved, or
// one is run as far as it can, or the draw is fair.
#pragma once

#include <cstdint>
#include <span>

namespace manyspan {

class SimOrder {
 public:
  explicit SimOrder(std::uint64_t seed) : state_(seed) {}

  // One of the queues that may run, of which there is at least one.
  std::uint32_t pick(std::span<const std::uint32_t> runnable);

  std::uint64_t digest() const { return digest_; }  // of all picks so far

 private:
  enum class Bias : std::uint8_t { fair, starve, favour };

  std::uint64_t random();
  std::uint32_t below(std::size_t n) { return static_cast<std::uint32_t>(random() % n); }

  std::uint64_t state_;
  std::uint64_t digest_ = 0;
  Bias bias_ = Bias::fair;
  std::uint32_t queue_ = 0;  // starved or favoured
  std::uint64_t left_ = 0;   // picks until the bias changes
};

}  // namespace manyspan
