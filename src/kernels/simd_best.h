// simd_best — the best k of many 16-bit keys by counting, ties to the lower number; exact, and without sorting.
//
// Cost       three passes over the keys, whatever they are
#pragma once

#include "kernels/simd.h"

namespace manyspan::kernels::MANYSPAN_ISA {

// Which keys are among the best: all above `key`, and the first `equals` of those that are `key`.
struct Bar {
  std::uint32_t key;
  std::int64_t equals;
};

// Of the 256 bins of `counts`, from the top: the bin in which the `wanted`-th lies; takes what lies above it
// off `wanted`.
MANYSPAN_INLINE std::uint32_t bin_of(const std::int32_t* counts, std::int64_t& wanted) {
  std::uint32_t bin = 255;
  while (counts[bin] < wanted) wanted -= counts[bin--];
  return bin;
}

// Requires 0 < wanted ≤ count.
MANYSPAN_INLINE Bar bar_for(const std::uint16_t* keys, std::int64_t count, std::int64_t wanted) {
  // Four counters for each bin: neighbours are often alike, and would wait for one another.
  std::int32_t counts[4][256] = {};
  std::int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (int way = 0; way < 4; ++way) ++counts[way][keys[i + way] >> 8];
  }
  for (; i < count; ++i) ++counts[0][keys[i] >> 8];
  for (int b = 0; b < 256; ++b) counts[0][b] += counts[1][b] + counts[2][b] + counts[3][b];
  const std::uint32_t high = bin_of(counts[0], wanted);
  std::memset(counts[0], 0, sizeof counts[0]);
  for (i = 0; i < count; ++i) {
    if ((keys[i] >> 8) == static_cast<int>(high)) ++counts[0][keys[i] & 255];
  }
  const std::uint32_t low = bin_of(counts[0], wanted);
  return {high << 8 | low, wanted};
}

// The largest of sixteen keys.
MANYSPAN_INLINE std::uint32_t largest_key(const std::uint16_t* keys) {
  std::uint16_t most[kLanes / 2];
  for (int i = 0; i < kLanes / 2; ++i) most[i] = keys[i] > keys[i + 8] ? keys[i] : keys[i + 8];
  std::uint32_t top = 0;
  for (int i = 0; i < kLanes / 2; ++i) top = most[i] > top ? most[i] : top;
  return top;
}

// Numbers of the best `width` of `count` keys, ascending, as number(i); the rest of out [width] is -1.
template <class Number>
MANYSPAN_INLINE std::int32_t list_best(const std::uint16_t* keys, std::int64_t count, std::int64_t width,
                                       std::int32_t* out, Number&& number) {
  std::int64_t taken = 0;
  if (count <= width) {
    for (; taken < count; ++taken) out[taken] = number(taken);
  } else if (width > 0) {
    Bar bar = bar_for(keys, count, width);
    for (std::int64_t i = 0; i < count && taken < width; i += kLanes) {
      const bool whole = i + kLanes <= count;
      if (whole && largest_key(keys + i) < bar.key) continue;
      for (std::int64_t j = i; j < (whole ? i + kLanes : count); ++j) {
        if (keys[j] < bar.key || (keys[j] == bar.key && bar.equals-- <= 0)) continue;
        out[taken++] = number(j);
      }
    }
  }
  for (std::int64_t i = taken; i < width; ++i) out[i] = -1;
  return static_cast<std::int32_t>(taken);
}

}  // namespace manyspan::kernels::MANYSPAN_ISA
