#include "prepared/rope_frequencies.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace manyspan {
namespace {

std::vector<float> plain(std::int32_t dims, double base) {
  std::vector<float> f;
  for (std::int32_t i = 0; i < dims; i += 2) {
    const float exponent = static_cast<float>(i) / static_cast<float>(dims);
    f.push_back(1.0f / static_cast<float>(std::pow(base, static_cast<double>(exponent))));
  }
  return f;
}

}  // namespace

std::vector<float> window_frequencies(const Blueprint& b) { return plain(b.rope_dim, b.rope_theta); }

std::vector<float> compressed_frequencies(const Blueprint& b) {
  std::vector<float> f = plain(b.rope_dim, b.compress_rope_theta);
  if (b.yarn.original_length <= 0) return f;
  const auto corrected = [&](double turns) {
    return b.rope_dim *
           std::log(static_cast<double>(b.yarn.original_length) / (turns * 2 * std::numbers::pi)) /
           (2 * std::log(static_cast<double>(b.compress_rope_theta)));
  };
  const double low = std::max(std::floor(corrected(b.yarn.beta_fast)), 0.0);
  const double high = std::min(std::ceil(corrected(b.yarn.beta_slow)), static_cast<double>(b.rope_dim - 1));
  const float width = static_cast<float>(std::max(high - low, 1e-3));
  for (std::size_t i = 0; i < f.size(); ++i) {
    const float ramp = std::clamp((static_cast<float>(i) - static_cast<float>(low)) / width, 0.0f, 1.0f);
    const float smooth = 1.0f - ramp;
    f[i] = f[i] / b.yarn.factor * (1.0f - smooth) + f[i] * smooth;
  }
  return f;
}

}  // namespace manyspan
