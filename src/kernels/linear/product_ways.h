// product_ways — how products read tiles of each encoding: two functions of an encoding, chosen once a call.
//
// Only *_cpu.cc files include this.
#pragma once

#include "kernels/simd_read.h"

namespace manyspan::kernels::MANYSPAN_ISA {

// A run of tiles of one strip that lie in one part of K: a sum of its own.
struct Stretch {
  Strip from;
  std::int64_t tile;  // the first of them
  std::int64_t next;  // bytes from its end to what the same place of the next stretches reads
};

struct Ways {
  // sums [stretch][row][16] of `some` stretches of `count` tiles with one or two rows x.
  void (*few_rows)(const Stretch* stretches, int some, std::int64_t count, const float* const* x,
                   std::int64_t rows, float* sums);
  // decode_tile of simd_read.h.
  void (*decode)(const Strip& strip, std::int64_t t, float* out);
};

// Requires an encoding that lies in tiles. By the file that holds them: numbers and E4M3, blocks, points.
Ways ways_of(Encoding e);
Ways ways_of_blocks(Encoding e);
Ways ways_of_points(Encoding e);

}  // namespace manyspan::kernels::MANYSPAN_ISA
