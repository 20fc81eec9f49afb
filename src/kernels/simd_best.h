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
  std::int32_t counts[256] = {};
  for (std::int64_t i = 0; i < count; ++i) ++counts[keys[i] >> 8];
  const std::uint32_t high = bin_of(counts, wanted);
  for (int b = 0; b < 256; ++b) counts[b] = 0;
  for (std::int64_t i = 0; i < count; ++i) counts[keys[i] & 255] += (keys[i] >> 8) == high;
  const std::uint32_t low = bin_of(counts, wanted);
  return {high << 8 | low, wanted};
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
    for (std::int64_t i = 0; i < count && taken < width; ++i) {
      if (keys[i] < bar.key || (keys[i] == bar.key && bar.equals-- <= 0)) continue;
      out[taken++] = number(i);
    }
  }
  for (std::int64_t i = taken; i < width; ++i) out[i] = -1;
  return static_cast<std::int32_t>(taken);
}

}  // namespace manyspan::kernels::MANYSPAN_ISA
