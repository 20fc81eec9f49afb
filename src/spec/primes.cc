#include "spec/primes.h"

#include <bit>

namespace manyspan {
namespace {

__extension__ using Wide = unsigned __int128;

std::uint64_t multiply(std::uint64_t a, std::uint64_t b, std::uint64_t modulus) {
  return static_cast<std::uint64_t>(static_cast<Wide>(a) * b % modulus);
}

std::uint64_t power(std::uint64_t base, std::uint64_t exponent, std::uint64_t modulus) {
  std::uint64_t result = 1;
  for (base %= modulus; exponent != 0; exponent >>= 1) {
    if ((exponent & 1u) != 0) result = multiply(result, base, modulus);
    base = multiply(base, base, modulus);
  }
  return result;
}

// Miller and Rabin's test of odd n for one base.
bool passes(std::uint64_t n, std::uint64_t base) {
  const int twos = std::countr_zero(n - 1);
  std::uint64_t x = power(base, (n - 1) >> twos, n);
  if (x == 1 || x == n - 1) return true;
  for (int i = 1; i < twos; ++i) {
    x = multiply(x, x, n);
    if (x == n - 1) return true;
  }
  return false;
}

}  // namespace

bool is_prime(std::uint64_t n) {
  // With these bases the test is exact for every 64-bit number.
  constexpr std::uint64_t kBases[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
  if (n < 2) return false;
  for (const std::uint64_t p : kBases) {
    if (n % p == 0) return n == p;
  }
  for (const std::uint64_t p : kBases) {
    if (!passes(n, p)) return false;
  }
  return true;
}

std::uint64_t prime_from(std::uint64_t n) {
  while (!is_prime(n)) ++n;
  return n;
}

}  // namespace manyspan
