// primes — whether a number is prime, exactly and in microseconds.
#pragma once

#include <cstdint>

namespace manyspan {

bool is_prime(std::uint64_t n);

// The least prime ≥ n. Requires n ≤ 2^62.
std::uint64_t prime_from(std::uint64_t n);

}  // namespace manyspan
