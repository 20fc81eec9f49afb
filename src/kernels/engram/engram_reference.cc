#include <algorithm>
#include <cmath>

#include "device/host_device.h"
#include "kernels/reference_ops.h"
#include "kernels/rms_norm/rms_norm.h"
#include "kernels/round/round.h"

namespace manyspan::kernels::reference {

constexpr std::int64_t kColumnsAtOnce = 256;  // whole blocks of every encoding

void engram_rows(Queue& queue, const EngramRows& p) {
  const std::int64_t dim = p.dim, packed = lone_row_bytes(p.encoding, p.dim);
  workers_of(queue).for_each(rows_used(p.batch.rows, p.batch.used), [&](std::int64_t t, int) {
    Bf16* y = p.y.row(t);
    for (std::int64_t c = 0; c < p.columns; ++c) {
      const auto* bytes = reinterpret_cast<const std::byte*>(p.packed.row(t) + c * packed);
      const Weight row = lone_row(p.encoding, p.dim, bytes);
      float x[kColumnsAtOnce];
      for (std::int64_t k = 0; k < dim; k += kColumnsAtOnce) {
        const std::int64_t some = std::min(kColumnsAtOnce, dim - k);
        values(row, 0, k, some, x);
        for (std::int64_t i = 0; i < some; ++i) y[c * dim + k + i] = to_bf16(x[i]);
      }
    }
    const std::int64_t n = p.columns * dim;
    if (p.embed_tap.data != nullptr) std::copy_n(y, n, p.embed_tap.row(t));
    grid8_row(y, n);
  });
}

namespace {

// How far stream x lets the value in.
float gate_of(const EngramGate& p, const Bf16* x, const Bf16* key, const Bf16* q, const Bf16* k,
              std::int64_t d) {
  double sum = 0;
  for (std::int64_t c = 0; c < d; ++c) {
    const float w = to_float(q[c]) * to_float(k[c]);
    sum += static_cast<double>(to_float(x[c])) * w * to_float(key[c]);
  }
  const float r = inverse_rms(x, d, p.eps) * inverse_rms(key, d, p.eps);
  const auto shrink = static_cast<float>(std::pow(static_cast<double>(d), -0.5));
  const float dot = static_cast<float>(sum) * r * shrink;
  const float root = std::copysign(std::sqrt(std::fmax(std::fabs(dot), 1e-6f)), dot);
  return static_cast<float>(1 / (1 + std::exp(-static_cast<double>(root))));
}

}  // namespace

void engram_gate(Queue& queue, const EngramGate& p) {
  const std::int64_t streams = p.streams_count, d = p.streams.cols / streams;
  workers_of(queue).for_each(rows_used(p.streams.rows, p.batch.used), [&](std::int64_t t, int) {
    const Bf16* kv = p.kv.row(t);
    for (std::int64_t i = 0; i < streams; ++i) {
      Bf16* x = p.streams.row(t) + i * d;
      const bool closed = (p.batch.marks[t] & kMarkImageSpan) != 0;
      const float gate = closed ? 0 : gate_of(p, x, kv + i * d, p.q_gain + i * d, p.k_gain + i * d, d);
      for (std::int64_t c = 0; c < d; ++c)
        x[c] = to_bf16(to_float(x[c]) + gate * to_float(kv[streams * d + c]));
      if (p.gate_tap.data != nullptr) p.gate_tap.row(t)[i] = gate;
    }
  });
}

}  // namespace manyspan::kernels::reference
