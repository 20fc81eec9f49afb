#include <algorithm>

#include "base/check.h"
#include "device/host_device.h"
#include "kernels/carve.h"
#include "kernels/dots.h"
#include "kernels/reference_ops.h"
#include "kernels/rms_norm/rms_norm.h"
#include "kernels/round/round.h"

namespace manyspan::kernels::reference {
namespace {

constexpr std::int64_t kRowsAtOnce = 8;  // matrix rows that a worker takes

struct Scratch {
  double* octets;  // of up to 64 rows x̂
  Bf16* rows;      // [64][K]: x̂ before it is laid into octets
};

Scratch scratch(const Linear& p, Carve& carve) {
  std::int64_t cols = 0;
  for (std::int32_t i = 0; i < p.count; ++i) cols = std::max<std::int64_t>(cols, p.parts[i].w.cols);
  return {carve.array<double>(octet_doubles(kDotRows, cols)), carve.array<Bf16>(kDotRows * cols)};
}

// Rows first.. of x as octets, normed and rounded as the call asks.
void prepare(Workers& workers, const Linear& p, const Rows<const Bf16>& x, std::int64_t first,
             std::int64_t rows, const Scratch& s) {
  const std::int64_t cols = x.cols;
  workers.for_each(octets_of(rows), [&](std::int64_t o, int) {
    for (int lane = 0; lane < kOctet; ++lane) {
      const std::int64_t r = o * kOctet + lane;
      const Bf16* from = r < rows ? x.row(first + r) : nullptr;
      if (from != nullptr && (p.norm != nullptr || p.grid_in)) {
        Bf16* to = s.rows + r * cols;
        if (p.norm != nullptr) {
          norm_row(from, p.norm, p.eps, cols, to);
        } else {
          std::copy_n(from, cols, to);
        }
        if (p.grid_in) grid8_row(to, cols);
        from = to;
      }
      set_lane(from, cols, lane, s.octets + o * cols * kOctet);
    }
  });
}

void multiply(Workers& workers, const Linear::Part& part, std::int64_t first, std::int64_t rows,
              const double* octets) {
  workers.for_each((part.w.rows + kRowsAtOnce - 1) / kRowsAtOnce, [&](std::int64_t item, int) {
    const std::int64_t end = std::min<std::int64_t>(part.w.rows, (item + 1) * kRowsAtOnce);
    for (std::int64_t n = item * kRowsAtOnce; n < end; ++n) {
      float y[kDotRows];
      row_dots(part.w, n, octets, rows, y);
      for (std::int64_t r = 0; r < rows; ++r) {
        if (part.y.f32.data != nullptr) {
          part.y.f32.row(first + r)[n] = y[r];
        } else {
          part.y.bf16.row(first + r)[n] = to_bf16(y[r]);
        }
      }
    }
  });
}

}  // namespace

std::size_t linear_work(const Linear& p) {
  Carve carve;
  scratch(p, carve);
  return carve.bytes();
}

const char* linear_refuses(const Linear& p) {
  if (p.count < 1 || p.count > Linear::kMaxParts) return "between one and eight products in a call";
  return nullptr;
}

void linear(Queue& queue, const Linear& p) {
  Carve carve(p.work);
  const Scratch s = scratch(p, carve);
  Workers& workers = workers_of(queue);
  const bool rounds = p.norm != nullptr || p.grid_in;
  const std::int64_t used = rows_used(p.parts[0].x.rows, p.used);
  for (std::int64_t first = 0; first < used; first += kDotRows) {
    const std::int64_t rows = std::min<std::int64_t>(kDotRows, used - first);
    for (std::int32_t i = 0; i < p.count; ++i) {
      const Linear::Part& part = p.parts[i];
      CHECK(part.x.cols == part.w.cols, "x has as many columns as the matrix");
      const bool same = i > 0 && part.x.data == p.parts[i - 1].x.data && part.x.cols == p.parts[i - 1].x.cols;
      CHECK(i == 0 || same || !rounds, "with norm or grid_in all parts have the same x");
      if (!same) prepare(workers, p, part.x, first, rows, s);
      multiply(workers, part, first, rows, s.octets);
      if (p.grid_out) {
        for (std::int64_t r = 0; r < rows; ++r) grid8_row(part.y.bf16.row(first + r), part.w.rows);
      }
    }
  }
}

}  // namespace manyspan::kernels::reference
