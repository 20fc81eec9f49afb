#include "kernels/linear/few_rows.h"
#include "kernels/simd_read_points.h"

namespace manyspan::kernels::MANYSPAN_ISA {

Ways ways_of_points(Encoding e) {
  switch (e) {
    case Encoding::iq2_xxs:
      return kWays<Encoding::iq2_xxs>;
    case Encoding::iq3_xxs:
      return kWays<Encoding::iq3_xxs>;
    case Encoding::iq3_s:
      return kWays<Encoding::iq3_s>;
    default:
      return {};
  }
}

}  // namespace manyspan::kernels::MANYSPAN_ISA
