#include <cstring>

#include "kernels/cpu_ops.h"
#include "kernels/rows/gather.h"

namespace manyspan::kernels::MANYSPAN_ISA {

void gather(Queue&, const Gather& p) {
  for (std::int32_t i = 0; i < *p.count; ++i) {
    std::memcpy(p.out_streams.row(i), p.streams.row(p.rows[i]), sizeof(Bf16) * p.streams.cols);
    std::memcpy(p.out_pre.row(i), p.pre.row(p.rows[i]), sizeof(float) * p.pre.cols);
  }
}

}  // namespace manyspan::kernels::MANYSPAN_ISA
