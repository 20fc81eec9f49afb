// dots — products of a matrix with up to 64 rows, each summed in double, columns ascending.
//
// The rows are held as `octets`: [⌈rows/8⌉][cols][8] doubles, so that eight sums advance side by side without
// any of them changing its order. Rows past the last are zero.
//
// Numerics   one double sum from zero for each element; what the matrix holds is decoded exactly
// Threads    pure
#pragma once

#include <cstdint>

#include "tensor/bf16.h"
#include "tensor/weight.h"

namespace manyspan::kernels {

inline constexpr int kDotRows = 64;
inline constexpr int kOctet = 8;

constexpr std::int64_t octets_of(std::int64_t rows) { return (rows + kOctet - 1) / kOctet; }
constexpr std::int64_t octet_doubles(std::int64_t rows, std::int64_t cols) {
  return octets_of(rows) * cols * kOctet;
}

// Lays row `lane` of an octet; a null row is zero.
void set_lane(const Bf16* x, std::int64_t cols, int lane, double* octet);

// sums[r] = Σ_k w[k]·x[r][k] + sums[r] for all rows of `count` octets, w and x from column `begin` on.
void add_dots(const float* w, std::int64_t begin, std::int64_t end, std::int64_t cols, const double* octets,
              std::int64_t count, double* sums);

// out[r] = f32(w[n]·x[r]), r in [0, rows), rows ≤ kDotRows.
void row_dots(const Weight& w, std::int64_t n, const double* octets, std::int64_t rows, float* out);

}  // namespace manyspan::kernels
