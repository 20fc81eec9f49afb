#include "kernels/rope/rope.h"

#include <cmath>

namespace manyspan::kernels {

void rope_row(const Rope& rope, std::int64_t position, bool inverse, Bf16* x) {
  for (std::int32_t i = 0; i < rope.dims / 2; ++i) {
    const float angle = static_cast<float>(position) * rope.frequency[i];
    const double c = static_cast<float>(std::cos(static_cast<double>(angle)));
    const double sine = static_cast<float>(std::sin(static_cast<double>(angle)));
    const double s = inverse ? -sine : sine;
    const double a = to_float(x[2 * i]), b = to_float(x[2 * i + 1]);
    x[2 * i] = to_bf16(static_cast<float>(a * c - b * s));
    x[2 * i + 1] = to_bf16(static_cast<float>(a * s + b * c));
  }
}

}  // namespace manyspan::kernels
