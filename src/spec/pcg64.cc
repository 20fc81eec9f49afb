#include "spec/pcg64.h"

#include <bit>

#include "base/check.h"

namespace manyspan {
namespace {

// A 32-bit hash whose key moves on with every use.
class Hash {
 public:
  Hash(std::uint32_t key, std::uint32_t step) : key_(key), step_(step) {}

  std::uint32_t operator()(std::uint32_t v) {
    v ^= key_;
    key_ *= step_;
    v *= key_;
    return v ^ (v >> 16);
  }

 private:
  std::uint32_t key_, step_;
};

std::uint32_t mix(std::uint32_t x, std::uint32_t y) {
  const std::uint32_t r = 0xca01f9ddu * x - 0x4973f715u * y;
  return r ^ (r >> 16);
}

}  // namespace

std::array<std::uint64_t, 4> Pcg64::spread(std::uint32_t seed) {
  Hash into(0x43b0d7e5u, 0x931e8875u);
  std::array<std::uint32_t, 4> pool;
  for (std::size_t i = 0; i < 4; ++i) pool[i] = into(i == 0 ? seed : 0);
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t b = 0; b < 4; ++b) {
      if (a != b) pool[b] = mix(pool[b], into(pool[a]));
    }
  }
  Hash out(0x8b51f9ddu, 0x58f38dedu);
  std::array<std::uint64_t, 4> words{};
  for (std::size_t i = 0; i < 8; ++i) words[i / 2] |= std::uint64_t{out(pool[i % 4])} << (32 * (i % 2));
  return words;
}

Pcg64::Pcg64(std::uint32_t seed) : state_(0) {
  const std::array<std::uint64_t, 4> s = spread(seed);
  increment_ = ((static_cast<Wide>(s[2]) << 64 | s[3]) << 1) | 1u;
  step();
  state_ += static_cast<Wide>(s[0]) << 64 | s[1];
  step();
}

void Pcg64::step() {
  constexpr Wide kMultiplier = static_cast<Wide>(2549297995355413924u) << 64 | 4865540595714422341u;
  state_ = state_ * kMultiplier + increment_;
}

std::uint64_t Pcg64::next() {
  step();
  const auto folded = static_cast<std::uint64_t>(state_ >> 64) ^ static_cast<std::uint64_t>(state_);
  return std::rotr(folded, static_cast<int>(state_ >> 122));
}

std::uint64_t Pcg64::below(std::uint64_t bound) {
  CHECK(bound > std::uint64_t{1} << 32, "bound must be above 2^32");
  Wide m = static_cast<Wide>(next()) * bound;
  if (static_cast<std::uint64_t>(m) < bound) {
    const std::uint64_t least = (~std::uint64_t{0} - (bound - 1)) % bound;
    while (static_cast<std::uint64_t>(m) < least) m = static_cast<Wide>(next()) * bound;
  }
  return static_cast<std::uint64_t>(m >> 64);
}

}  // namespace manyspan
