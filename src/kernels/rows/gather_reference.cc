#include <algorithm>

#include "kernels/reference_ops.h"

namespace manyspan::kernels::reference {

void gather(Queue&, const Gather& p) {
  for (std::int32_t i = 0; i < *p.count; ++i) {
    std::copy_n(p.streams.row(p.rows[i]), p.streams.cols, p.out_streams.row(i));
    std::copy_n(p.pre.row(p.rows[i]), p.pre.cols, p.out_pre.row(i));
  }
}

}  // namespace manyspan::kernels::reference
