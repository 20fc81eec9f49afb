#include "kernels/rms_norm/rms_norm.h"

#include <cmath>

namespace manyspan::kernels {

float inverse_rms(const Bf16* x, std::int64_t n, float eps) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double v = to_float(x[i]);
    sum += v * v;
  }
  const float mean = static_cast<float>(sum / static_cast<double>(n)) + eps;
  return static_cast<float>(1 / std::sqrt(static_cast<double>(mean)));
}

void norm_row(const Bf16* x, const Bf16* gain, float eps, std::int64_t n, Bf16* y) {
  const float r = inverse_rms(x, n, eps);
  for (std::int64_t i = 0; i < n; ++i) y[i] = to_bf16(to_float(gain[i]) * (to_float(x[i]) * r));
}

}  // namespace manyspan::kernels
