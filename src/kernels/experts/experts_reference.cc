#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "device/host_device.h"
#include "kernels/carve.h"
#include "kernels/dots.h"
#include "kernels/reference_ops.h"
#include "kernels/round/round.h"

namespace manyspan::kernels::reference {
namespace {

constexpr std::int64_t kRowsAtOnce = 8;  // matrix rows that a worker takes

struct Scratch {
  float* sum;        // [T][D]: y so far
  double* octets;    // up to 64 rows of x8
  Bf16* a;           // [64][inner]
  double* a_octets;  // the same, laid out
};

Scratch scratch(const Experts& p, Carve& carve) {
  const std::int64_t d = p.gate_up.cols, inner = p.down.cols;
  return {carve.array<float>(p.batch.rows * d), carve.array<double>(octet_doubles(kDotRows, d)),
          carve.array<Bf16>(kDotRows * inner), carve.array<double>(octet_doubles(kDotRows, inner))};
}

// Up to 64 rows that one expert works on, and how much each counts.
struct Crew {
  std::int32_t row[kDotRows];
  float weight[kDotRows] = {};
  bool weighted;
  std::int64_t rows = 0;
};

float activation(const Experts& p, float gate, float up, bool weighted, float weight) {
  float g = to_float(to_bf16(gate)), u = to_float(to_bf16(up));
  if (p.limit > 0) {
    u = std::clamp(u, -p.limit, p.limit);
    g = std::min(g, p.limit);
  }
  const double wide = g;
  const float a = static_cast<float>(wide / (1 + std::exp(-wide))) * u;
  return weighted ? weight * a : a;
}

struct Matrices {
  Weight gate_up, up, down;
};

// sum[row] += bf16(down · act8(bf16(a))) for the crew's rows.
void work(Workers& workers, const Experts& p, const Matrices& m, const Crew& crew, const Scratch& s) {
  const std::int64_t d = m.gate_up.cols, inner = m.down.cols, rows = crew.rows;
  const bool paired = m.up.rows == 0;
  workers.for_each(octets_of(rows), [&](std::int64_t o, int) {
    for (int lane = 0; lane < kOctet; ++lane) {
      const std::int64_t r = o * kOctet + lane;
      set_lane(r < rows ? p.x8.row(crew.row[r]) : nullptr, d, lane, s.octets + o * d * kOctet);
    }
  });
  workers.for_each((inner + kRowsAtOnce - 1) / kRowsAtOnce, [&](std::int64_t item, int) {
    const std::int64_t end = std::min(inner, (item + 1) * kRowsAtOnce);
    for (std::int64_t n = item * kRowsAtOnce; n < end; ++n) {
      float gate[kDotRows], up[kDotRows];
      row_dots(m.gate_up, n, s.octets, rows, gate);
      row_dots(paired ? m.gate_up : m.up, paired ? inner + n : n, s.octets, rows, up);
      for (std::int64_t r = 0; r < rows; ++r) {
        s.a[r * inner + n] = to_bf16(activation(p, gate[r], up[r], crew.weighted, crew.weight[r]));
      }
    }
  });
  workers.for_each(octets_of(rows), [&](std::int64_t o, int) {
    for (int lane = 0; lane < kOctet; ++lane) {
      const std::int64_t r = o * kOctet + lane;
      Bf16* a = r < rows ? s.a + r * inner : nullptr;
      if (a != nullptr) grid8_row(a, inner);
      set_lane(a, inner, lane, s.a_octets + o * inner * kOctet);
    }
  });
  workers.for_each((d + kRowsAtOnce - 1) / kRowsAtOnce, [&](std::int64_t item, int) {
    const std::int64_t end = std::min(d, (item + 1) * kRowsAtOnce);
    for (std::int64_t n = item * kRowsAtOnce; n < end; ++n) {
      float y[kDotRows];
      row_dots(m.down, n, s.a_octets, rows, y);
      for (std::int64_t r = 0; r < rows; ++r) s.sum[crew.row[r] * d + n] += to_float(to_bf16(y[r]));
    }
  });
}

}  // namespace

std::size_t experts_work(const Experts& p) {
  Carve carve;
  scratch(p, carve);
  return carve.bytes();
}

const char* experts_refuses(const Experts& p) {
  if (p.gate_up.cols % 32 != 0 || p.down.cols % 32 != 0) return "inner and D are multiples of 32";
  return nullptr;
}

void experts(Queue& queue, const Experts& p) {
  Carve carve(p.work);
  const Scratch s = scratch(p, carve);
  Workers& workers = workers_of(queue);
  const std::int64_t used = rows_used(p.batch.rows, p.batch.used), d = p.gate_up.cols;
  std::fill_n(s.sum, used * d, 0.0f);

  const std::int32_t* list = p.routes.plan + p.expert_count + 1;
  Crew crew;
  crew.weighted = true;
  for (std::int32_t e = 0; e < p.expert_count; ++e) {
    const std::int32_t at = p.place == nullptr ? e : p.place[e];
    for (std::int32_t i = p.routes.plan[e]; i < p.routes.plan[e + 1]; ++i) {
      crew.row[crew.rows] = list[i] / p.routes.k;
      crew.weight[crew.rows++] = p.routes.weight[list[i]];
      if (crew.rows < kDotRows && i + 1 < p.routes.plan[e + 1]) continue;
      work(workers, p, {nth(p.gate_up, at), nth(p.up, at), nth(p.down, at)}, crew, s);
      crew.rows = 0;
    }
  }
  crew.weighted = false;
  for (std::int64_t t = 0; t < used; ++t) {
    crew.row[crew.rows++] = static_cast<std::int32_t>(t);
    if (crew.rows < kDotRows && t + 1 < used) continue;
    work(workers, p, {p.shared_gate_up, p.shared_up, p.shared_down}, crew, s);
    crew.rows = 0;
  }
  workers.for_each(used, [&](std::int64_t t, int) {
    for (std::int64_t k = 0; k < d; ++k) p.y.row(t)[k] = to_bf16(s.sum[t * d + k]);
  });
}

}  // namespace manyspan::kernels::reference
