// simd_team — shares a loop out to the queue's team where that pays.
//
// Cost       a hand-over is about 0.1 us to a spinning team; below `kWorthSharing` the caller does all itself
#pragma once

#include "device/host_device.h"
#include "kernels/simd.h"

namespace manyspan::kernels::MANYSPAN_ISA {

inline constexpr std::int64_t kWorthSharing = 4000;  // cycles, roughly

// body(i) for i in [0, count), in any order and on any thread. `cycles` is a guess of one call's cost.
template <class Body>
MANYSPAN_INLINE void share(Workers& workers, std::int64_t count, std::int64_t cycles, Body&& body) {
  if (count > 1 && count * cycles >= kWorthSharing) {
    workers.for_each(count, [&](std::int64_t i, int) { body(i); });
  } else {
    for (std::int64_t i = 0; i < count; ++i) body(i);
  }
}

}  // namespace manyspan::kernels::MANYSPAN_ISA
