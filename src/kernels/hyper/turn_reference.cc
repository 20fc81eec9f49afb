#include <algorithm>

#include "base/check.h"
#include "device/host_device.h"
#include "kernels/reference_ops.h"
#include "kernels/rms_norm/rms_norm.h"
#include "kernels/round/round.h"

namespace manyspan::kernels::reference {
namespace {

constexpr int kMostStreams = 8;

// X_j ← bf16(post_j·o + Σ_i comb_ij·X_i)
void expand(const Bf16* o, const float* post, const float* comb, std::int64_t streams, std::int64_t d,
            Bf16* x) {
  for (std::int64_t k = 0; k < d; ++k) {
    double old[kMostStreams];
    for (std::int64_t i = 0; i < streams; ++i) old[i] = to_float(x[i * d + k]);
    for (std::int64_t j = 0; j < streams; ++j) {
      double sum = static_cast<double>(post[j]) * to_float(o[k]);
      for (std::int64_t i = 0; i < streams; ++i) sum += comb[i * streams + j] * old[i];
      x[j * d + k] = to_bf16(static_cast<float>(sum));
    }
  }
}

void mean_of(const Bf16* x, std::int64_t streams, std::int64_t d, Bf16* mean) {
  for (std::int64_t k = 0; k < d; ++k) {
    double sum = 0;
    for (std::int64_t i = 0; i < streams; ++i) sum += to_float(x[i * d + k]);
    mean[k] = to_bf16(static_cast<float>(sum / static_cast<double>(streams)));
  }
}

// u = bf16(Σ_i pre_i·X_i)
void collapse(const Bf16* x, const float* pre, std::int64_t streams, std::int64_t d, Bf16* u) {
  for (std::int64_t k = 0; k < d; ++k) {
    double sum = 0;
    for (std::int64_t i = 0; i < streams; ++i) sum += static_cast<double>(pre[i]) * to_float(x[i * d + k]);
    u[k] = to_bf16(static_cast<float>(sum));
  }
}

}  // namespace

void turn(Queue& queue, const Turn& p) {
  CHECK(p.streams_count <= kMostStreams, "more streams than any model has");
  const std::int64_t streams = p.streams_count, d = p.streams.cols / streams;
  workers_of(queue).for_each(rows_used(p.streams.rows, p.used), [&](std::int64_t t, int) {
    Bf16* x = p.streams.row(t);
    if (p.o.data != nullptr) expand(p.o.row(t), p.post.row(t), p.comb.row(t), streams, d, x);
    if (p.mean.data != nullptr) mean_of(x, streams, d, p.mean.row(t));
    if (p.pre.data == nullptr) return;
    Bf16* to = p.x.data != nullptr ? p.x.row(t) : p.x8.row(t);
    collapse(x, p.pre.row(t), streams, d, to);
    norm_row(to, p.gain, p.eps, d, to);
    if (p.x8.data == nullptr) return;
    if (to != p.x8.row(t)) std::copy_n(to, d, p.x8.row(t));
    grid8_row(p.x8.row(t), d);
  });
}

}  // namespace manyspan::kernels::reference
