#include "kernels/cpu_ops.h"
#include "kernels/hyper/turn.h"
#include "kernels/simd_rows.h"
#include "kernels/simd_team.h"

namespace manyspan::kernels::MANYSPAN_ISA {
namespace {

constexpr int kMostStreams = 8;

// Expand, mean and collapse of sixteen columns; S is the number of streams, 0 if only known at run time.
template <int S>
MANYSPAN_INLINE void columns_of(const Turn& p, std::int64_t t, std::int64_t c, std::int64_t d, Bf16* u) {
  const int s = S > 0 ? S : p.streams_count;
  Bf16* row = p.streams.row(t);
  F x[S > 0 ? S : kMostStreams] = {};
  for (int i = 0; i < s; ++i) x[i] = load_at(row + i * d, c, d);
  if (p.o.data != nullptr) {
    const F o = load_at(p.o.row(t), c, d);
    const float *post = p.post.row(t), *comb = p.comb.row(t);
    F next[S > 0 ? S : kMostStreams] = {};
    for (int j = 0; j < s; ++j) {
      F sum = all(post[j]) * o;
      for (int i = 0; i < s; ++i) sum = fma(all(comb[i * s + j]), x[i], sum);
      next[j] = round_bf16(sum);
      store_at(next[j], row + j * d, c, d);
    }
    for (int j = 0; j < s; ++j) x[j] = next[j];
  }
  if (p.mean.data != nullptr) {
    F sum = x[0];
    for (int i = 1; i < s; ++i) sum = sum + x[i];
    store_at(sum / all(static_cast<float>(s)), p.mean.row(t), c, d);
  }
  if (u != nullptr) {
    const float* pre = p.pre.row(t);
    F sum = all(pre[0]) * x[0];
    for (int i = 1; i < s; ++i) sum = fma(all(pre[i]), x[i], sum);
    store_at(sum, u, c, d);
  }
}

void one_row(const Turn& p, std::int64_t t) {
  const std::int64_t d = p.streams.cols / p.streams_count;
  Bf16* u = nullptr;
  if (p.pre.data != nullptr) u = p.x.data != nullptr ? p.x.row(t) : p.x8.row(t);
  for (std::int64_t c = 0; c < d; c += kLanes) {
    if (p.streams_count == 4) {
      columns_of<4>(p, t, c, d, u);
    } else {
      columns_of<0>(p, t, c, d, u);
    }
  }
  if (u == nullptr) return;
  const F r = all(inverse_rms(d, p.eps, [&](std::int64_t c) { return load_at(u, c, d); }));
  const auto normed = [&](std::int64_t c) {
    return round_bf16(load_at(u, c, d) * r * load_at(p.gain, c, d));
  };
  if (p.x8.data == nullptr) {
    for (std::int64_t c = 0; c < d; c += kLanes) store_at(normed(c), u, c, d);
    return;
  }
  Bf16* x8 = p.x8.row(t);
  for (std::int64_t c = 0; c < d; c += 2 * kLanes) {
    F a = normed(c), b = normed(c + kLanes);
    if (p.x.data != nullptr) store(a, u + c), store(b, u + c + kLanes);
    grid8(a, b);
    store(a, x8 + c);
    store(b, x8 + c + kLanes);
  }
}

}  // namespace

const char* turn_refuses(const Turn& p) {
  if (p.streams_count > kMostStreams) return "at most eight streams";
  const bool grid = p.x8.data != nullptr || p.x8.cols != 0;
  return grid && p.x8.cols % 32 != 0 ? "a row on the FP8 grid has whole groups of 32" : nullptr;
}

void turn(Queue& queue, const Turn& p) {
  const std::int64_t rows = rows_used(p.streams.rows, p.used);
  share(workers_of(queue), rows, p.streams.cols, [&](std::int64_t t) { one_row(p, t); });
}

}  // namespace manyspan::kernels::MANYSPAN_ISA
