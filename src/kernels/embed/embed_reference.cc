#include "device/host_device.h"
#include "kernels/reference_ops.h"

namespace manyspan::kernels::reference {

void embed(Queue& queue, const Embed& p) {
  const std::int64_t d = p.table.cols, streams = p.streams_count;
  workers_of(queue).for_each(rows_used(p.batch.rows, p.batch.used), [&](std::int64_t t, int) {
    for (std::int64_t k = 0; k < d; ++k) {
      const Bf16 x = to_bf16(value(p.table, p.batch.ids[t].value, k));
      for (std::int64_t s = 0; s < streams; ++s) p.streams.row(t)[s * d + k] = x;
    }
    for (std::int64_t s = 0; s < streams; ++s) p.pre.row(t)[s] = s == 0 ? 1.0f : 0.0f;
  });
}

}  // namespace manyspan::kernels::reference
