#include "kernels/linear/few_rows.h"

namespace manyspan::kernels::MANYSPAN_ISA {

Ways ways_of(Encoding e) {
  switch (e) {
    case Encoding::f32:
      return kWays<Encoding::f32>;
    case Encoding::f16:
      return kWays<Encoding::f16>;
    case Encoding::bf16:
      return kWays<Encoding::bf16>;
    case Encoding::fp8_block32:
      return kWays<Encoding::fp8_block32>;
    case Encoding::fp8_block128_f32:
      return kWays<Encoding::fp8_block128_f32>;
    case Encoding::mxfp8:
      return kWays<Encoding::mxfp8>;
    case Encoding::mxfp4:
      return kWays<Encoding::mxfp4>;
    default:
      return ways_of_blocks(e);
  }
}

}  // namespace manyspan::kernels::MANYSPAN_ISA
