#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "device/host_device.h"
#include "kernels/carve.h"
#include "kernels/dots.h"
#include "kernels/reference_ops.h"
#include "kernels/rms_norm/rms_norm.h"

namespace manyspan::kernels::reference {
namespace {

struct Scratch {
  double* octets;  // the streams of up to 64 rows
  float* dots;     // [fn.rows][64]
};

Scratch scratch(const Mix& p, Carve& carve) {
  return {carve.array<double>(octet_doubles(kDotRows, p.fn.cols)), carve.array<float>(p.fn.rows * kDotRows)};
}

float sigmoid(float x) { return static_cast<float>(1 / (1 + std::exp(-static_cast<double>(x)))); }
float exponential(float x) { return static_cast<float>(std::exp(static_cast<double>(x))); }

void divide_rows(float* c, std::int64_t s, float eps) {
  for (std::int64_t i = 0; i < s; ++i) {
    float sum = 0;
    for (std::int64_t j = 0; j < s; ++j) sum += c[i * s + j];
    for (std::int64_t j = 0; j < s; ++j) c[i * s + j] /= sum + eps;
  }
}

void divide_columns(float* c, std::int64_t s, float eps) {
  for (std::int64_t j = 0; j < s; ++j) {
    float sum = 0;
    for (std::int64_t i = 0; i < s; ++i) sum += c[i * s + j];
    for (std::int64_t i = 0; i < s; ++i) c[i * s + j] /= sum + eps;
  }
}

void sinkhorn(float* c, std::int64_t s, float eps, std::int32_t iterations) {
  for (std::int64_t i = 0; i < s; ++i) {
    float* row = c + i * s;
    const float most = *std::max_element(row, row + s);
    for (std::int64_t j = 0; j < s; ++j) row[j] = exponential(row[j] - most);
  }
  divide_rows(c, s, 0);
  for (std::int64_t i = 0; i < s * s; ++i) c[i] += eps;
  divide_columns(c, s, eps);
  for (std::int32_t pass = 1; pass < iterations; ++pass) {
    divide_rows(c, s, eps);
    divide_columns(c, s, eps);
  }
}

// From one row's m (a column of `m`, 64 apart) to its pre, post and comb.
void finish_row(const Mix& p, std::int64_t t, const float* m, float r) {
  const std::int64_t s = p.streams_count;
  const auto mixed = [&](std::int64_t n, int scale) {
    return m[n * kDotRows] * r * p.scale[scale] + p.base[n];
  };
  for (std::int64_t i = 0; i < s; ++i) {
    p.pre.row(t)[i] = sigmoid(mixed(i, 0)) + p.mix_eps;
    p.post.row(t)[i] = 2 * sigmoid(mixed(s + i, 1));
  }
  for (std::int64_t i = 0; i < s * s; ++i) p.comb.row(t)[i] = mixed(2 * s + i, 2);
  sinkhorn(p.comb.row(t), s, p.mix_eps, p.iterations);
}

}  // namespace

std::size_t mix_work(const Mix& p) {
  Carve carve;
  scratch(p, carve);
  return carve.bytes();
}

void mix(Queue& queue, const Mix& p) {
  CHECK(p.fn.rows == p.streams_count * (2 + p.streams_count), "fn has a row for each pre, post and comb");
  Carve carve(p.work);
  const Scratch s = scratch(p, carve);
  Workers& workers = workers_of(queue);
  const std::int64_t used = rows_used(p.streams.rows, p.used), cols = p.fn.cols;
  for (std::int64_t first = 0; first < used; first += kDotRows) {
    const std::int64_t rows = std::min<std::int64_t>(kDotRows, used - first);
    workers.for_each(octets_of(rows), [&](std::int64_t o, int) {
      for (int lane = 0; lane < kOctet; ++lane) {
        const std::int64_t r = o * kOctet + lane;
        set_lane(r < rows ? p.streams.row(first + r) : nullptr, cols, lane, s.octets + o * cols * kOctet);
      }
    });
    workers.for_each(p.fn.rows,
                     [&](std::int64_t n, int) { row_dots(p.fn, n, s.octets, rows, s.dots + n * kDotRows); });
    workers.for_each(rows, [&](std::int64_t r, int) {
      finish_row(p, first + r, s.dots + r, inverse_rms(p.streams.row(first + r), cols, p.eps));
    });
  }
}

}  // namespace manyspan::kernels::reference
