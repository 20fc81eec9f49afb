#include "kernels/linear/few_rows.h"
#include "kernels/simd_read_blocks.h"

namespace manyspan::kernels::MANYSPAN_ISA {

Ways ways_of_blocks(Encoding e) {
  switch (e) {
    case Encoding::q4_0:
      return kWays<Encoding::q4_0>;
    case Encoding::q8_0:
      return kWays<Encoding::q8_0>;
    case Encoding::q2_k:
      return kWays<Encoding::q2_k>;
    case Encoding::q3_k:
      return kWays<Encoding::q3_k>;
    case Encoding::q4_k:
      return kWays<Encoding::q4_k>;
    case Encoding::q5_k:
      return kWays<Encoding::q5_k>;
    case Encoding::q6_k:
      return kWays<Encoding::q6_k>;
    case Encoding::iq4_nl:
      return kWays<Encoding::iq4_nl>;
    case Encoding::iq4_xs:
      return kWays<Encoding::iq4_xs>;
    case Encoding::nvfp4_ggml:
      return kWays<Encoding::nvfp4_ggml>;
    default:
      return ways_of_points(e);
  }
}

}  // namespace manyspan::kernels::MANYSPAN_ISA
