#include "kernels/cpu_ops.h"
#include "kernels/embed/embed.h"
#include "kernels/simd.h"
#include "kernels/simd_team.h"

namespace manyspan::kernels::MANYSPAN_ISA {

void embed(Queue& queue, const Embed& p) {
  const std::int64_t d = p.table.cols, streams = p.streams_count;
  share(workers_of(queue), rows_used(p.batch.rows, p.batch.used), 2 * d * streams, [&](std::int64_t t) {
    Bf16* to = p.streams.row(t);
    const std::int64_t id = p.batch.ids[t].value;
    for (std::int64_t k = 0; k < d; k += 2 * kLanes) {
      const std::int64_t count = d - k < 2 * kLanes ? d - k : 2 * kLanes;
      float x[2 * kLanes] = {};
      values(p.table, id, k, count, x);
      store_at(load(x), to, k, d);
      if (count > kLanes) store_at(load(x + kLanes), to, k + kLanes, d);
    }
    for (std::int64_t s = 1; s < streams; ++s)
      std::memcpy(to + s * d, to, static_cast<std::size_t>(d) * sizeof(Bf16));
    for (std::int64_t s = 0; s < streams; ++s) p.pre.row(t)[s] = s == 0 ? 1.0f : 0.0f;
  });
}

}  // namespace manyspan::kernels::MANYSPAN_ISA
