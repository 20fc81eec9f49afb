#include "kernels/append/append.h"

#include <cstring>

#include "device/host_device.h"

namespace manyspan::kernels {

void append(Queue& queue, const Append& p) {
  const SourceView& s = p.source;
  const std::int64_t codes = s.head_dim / 2, scales = s.head_dim / 16, key_codes = s.key_dim / 2,
                     key_scales = s.key_dim / 32;
  workers_of(queue).for_each(rows_used(p.batch.rows, p.batch.used), [&](std::int64_t t, int) {
    const std::int64_t position = p.batch.position[t].value, slot = p.batch.slot[t];
    if ((position + 1) % s.ratio != 0) return;
    const std::int64_t row = position / s.ratio;
    const std::byte* from = p.published.row(t);
    std::memcpy(s.codes(slot, row), from, codes);
    std::memcpy(s.scales(slot, row), from + codes, scales);
    std::memcpy(s.key_codes(slot, row), from + codes + scales, key_codes);
    std::memcpy(s.key_scales(slot, row), from + codes + scales + key_codes, key_scales);
  });
}

}  // namespace manyspan::kernels
