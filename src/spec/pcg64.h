// Pcg64 — the random numbers that Engram's multipliers are drawn from, as numpy's default_rng(seed) draws
// them.
//
// Numerics   integers only; the check value of the specification is a test
// Spec       model.md 8.3
#pragma once

#include <array>
#include <cstdint>

namespace manyspan {

class Pcg64 {
 public:
  explicit Pcg64(std::uint32_t seed);

  std::uint64_t next();

  // Uniform in [0, bound). Requires a bound above 2^32: below it numpy draws in another way.
  std::uint64_t below(std::uint64_t bound);

  // The four words that a seed becomes.
  static std::array<std::uint64_t, 4> spread(std::uint32_t seed);

 private:
  __extension__ using Wide = unsigned __int128;

  void step();

  Wide state_, increment_;
};

}  // namespace manyspan
