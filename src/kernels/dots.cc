#include "kernels/dots.h"

#include <algorithm>

#include "base/check.h"

namespace manyspan::kernels {

void set_lane(const Bf16* x, std::int64_t cols, int lane, double* octet) {
  for (std::int64_t k = 0; k < cols; ++k) {
    octet[k * kOctet + lane] = x == nullptr ? 0 : static_cast<double>(to_float(x[k]));
  }
}

void add_dots(const float* w, std::int64_t begin, std::int64_t end, std::int64_t cols, const double* octets,
              std::int64_t count, double* sums) {
  for (std::int64_t o = 0; o < count; ++o) {
    const double* x = octets + (o * cols + begin) * kOctet;
    double sum[kOctet];
    std::copy_n(sums + o * kOctet, kOctet, sum);
    for (std::int64_t k = 0; k < end - begin; ++k, x += kOctet) {
      const double wk = w[k];
      for (int lane = 0; lane < kOctet; ++lane) sum[lane] += wk * x[lane];
    }
    std::copy_n(sum, kOctet, sums + o * kOctet);
  }
}

void row_dots(const Weight& w, std::int64_t n, const double* octets, std::int64_t rows, float* out) {
  CHECK(rows <= kDotRows, "at most 64 rows at a time");
  constexpr std::int64_t kColumns = 512;  // decoded at a time
  float decoded[kColumns];
  double sums[kDotRows] = {};
  for (std::int64_t begin = 0; begin < w.cols; begin += kColumns) {
    const std::int64_t end = std::min<std::int64_t>(w.cols, begin + kColumns);
    values(w, n, begin, end - begin, decoded);
    add_dots(decoded, begin, end, w.cols, octets, octets_of(rows), sums);
  }
  for (std::int64_t r = 0; r < rows; ++r) out[r] = static_cast<float>(sums[r]);
}

}  // namespace manyspan::kernels
