#include "kernels/cpu_ops.h"
#include "kernels/hyper/mix.h"
#include "kernels/simd_product.h"
#include "kernels/simd_work.h"

namespace manyspan::kernels::MANYSPAN_ISA {
namespace {

constexpr int kMostStreams = 8;

struct Scratch {
  float* x;  // [chunk] rows of all streams
  float* m;  // [chunk][32-padded outputs]
  float* r;  // [chunk]
};

MANYSPAN_INLINE std::int64_t outputs(const Mix& p) { return padded_cols(p.fn.rows); }

MANYSPAN_INLINE Scratch scratch(const Mix& p, std::int64_t chunk, Cutter& cut) {
  return {cut.array<float>(chunk * row_step(p.fn.cols)), cut.array<float>(chunk * outputs(p)),
          cut.array<float>(chunk)};
}

MANYSPAN_INLINE float exp_of(float x) {
  float lanes[kLanes];
  store(exp(all(x)), lanes);
  return lanes[0];
}
MANYSPAN_INLINE F exp_of(F x) { return exp(x); }
MANYSPAN_INLINE float larger(float a, float b) { return a > b ? a : b; }
MANYSPAN_INLINE F larger(F a, F b) { return max(a, b); }
MANYSPAN_INLINE void set(float x, float& to) { to = x; }
MANYSPAN_INLINE void set(float x, F& to) { to = all(x); }

// T is one row's number or sixteen rows' numbers: the same steps, so the same bits.
template <class T>
MANYSPAN_INLINE void sinkhorn(T (&c)[kMostStreams][kMostStreams], int s, float eps_number, int iterations) {
  T eps;
  set(eps_number, eps);
  for (int i = 0; i < s; ++i) {
    T most = c[i][0];
    for (int j = 1; j < s; ++j) most = larger(most, c[i][j]);
    for (int j = 0; j < s; ++j) c[i][j] = exp_of(c[i][j] - most);
  }
  for (int pass = 0; pass < iterations; ++pass) {
    for (int i = 0; i < s; ++i) {
      T sum = c[i][0];
      for (int j = 1; j < s; ++j) sum = sum + c[i][j];
      if (pass > 0) sum = sum + eps;
      for (int j = 0; j < s; ++j) c[i][j] = pass > 0 ? c[i][j] / sum : c[i][j] / sum + eps;
    }
    for (int j = 0; j < s; ++j) {
      T sum = c[0][j];
      for (int i = 1; i < s; ++i) sum = sum + c[i][j];
      sum = sum + eps;
      for (int i = 0; i < s; ++i) c[i][j] = c[i][j] / sum;
    }
  }
}

// m·r·scale + base, op by op.
template <class T>
MANYSPAN_INLINE T mixed(const Mix& p, T m, T r, std::int64_t n, int scale) {
  T by, base;
  set(p.scale[scale], by);
  set(p.base[n], base);
  return m * r * by + base;
}

void finish_row(const Mix& p, std::int64_t t, const float* m, float r) {
  const int s = p.streams_count;
  for (int i = 0; i < s; ++i) {
    p.pre.row(t)[i] = sigmoid(mixed(p, m[i], r, i, 0)) + p.mix_eps;
    p.post.row(t)[i] = 2 * sigmoid(mixed(p, m[s + i], r, s + i, 1));
  }
  float c[kMostStreams][kMostStreams];
  for (int i = 0; i < s * s; ++i) c[i / s][i % s] = mixed(p, m[2 * s + i], r, 2 * s + i, 2);
  if (s == 4) {
    sinkhorn(c, 4, p.mix_eps, p.iterations);
  } else {
    sinkhorn(c, s, p.mix_eps, p.iterations);
  }
  for (int i = 0; i < s * s; ++i) p.comb.row(t)[i] = c[i / s][i % s];
}

// Sixteen rows from t on, m of the first at `m`, each `step` further.
void finish_rows(const Mix& p, std::int64_t t, const float* m, std::int64_t step, const float* r) {
  const int s = p.streams_count;
  const F scale = load(r);
  float lanes[kLanes];
  const auto of = [&](int n) {
    for (int i = 0; i < kLanes; ++i) lanes[i] = m[i * step + n];
    return load(lanes);
  };
  const auto put = [&](F x, const Rows<float>& to, int n) {
    store(x, lanes);
    for (int i = 0; i < kLanes; ++i) to.row(t + i)[n] = lanes[i];
  };
  for (int i = 0; i < s; ++i) {
    put(sigmoid(mixed(p, of(i), scale, i, 0)) + all(p.mix_eps), p.pre, i);
    put(all(2.0f) * sigmoid(mixed(p, of(s + i), scale, s + i, 1)), p.post, i);
  }
  F c[kMostStreams][kMostStreams];
  for (int i = 0; i < s * s; ++i) c[i / s][i % s] = mixed(p, of(2 * s + i), scale, 2 * s + i, 2);
  sinkhorn(c, s, p.mix_eps, p.iterations);
  for (int i = 0; i < s * s; ++i) put(c[i / s][i % s], p.comb, i);
}

void multiply(const Mix& p, const Scratch& s, std::int64_t tile, std::int64_t begin, std::int64_t rows) {
  alignas(64) float sums[kMostRows * kLanes];
  const float* at[kMostRows] = {};
  for (std::int64_t r = 0; r < rows; ++r) at[r] = s.x + (begin + r) * row_step(p.fn.cols);
  tile_products(p.fn, tile, 1, at, rows, sums);
  for (std::int64_t r = 0; r < rows; ++r) {
    store(load(sums + r * kLanes), s.m + (begin + r) * outputs(p) + tile * kLanes);
  }
}

}  // namespace

std::size_t mix_work(const Mix& p) {
  Cutter cut({});
  scratch(p, p.streams.rows < kChunkRows ? p.streams.rows : kChunkRows, cut);
  return cut.bytes();
}

const char* mix_refuses(const Mix& p) {
  if (p.streams_count > kMostStreams) return "at most eight streams";
  if (p.fn.rows != p.streams_count * (2 + p.streams_count)) return "fn has a row for each pre, post and comb";
  return p.fn.tiling == Tiling::cpu16x32 ? nullptr : "matrices are in tiles of 16 x 32";
}

void mix(Queue& queue, const Mix& p) {
  Workers& workers = workers_of(queue);
  const std::int64_t used = rows_used(p.streams.rows, p.used), cols = p.fn.cols;
  const std::int64_t chunk = used < kChunkRows ? used : kChunkRows;
  Cutter cut(p.work);
  const Scratch s = scratch(p, chunk, cut);
  for (std::int64_t first = 0; first < used; first += chunk) {
    const std::int64_t rows = used - first < chunk ? used - first : chunk;
    share(workers, rows, cols / 4, [&](std::int64_t r) {
      float* row = s.x + r * row_step(cols);
      widen(p.streams.row(first + r), cols, row);
      s.r[r] = inverse_rms(cols, p.eps, [&](std::int64_t c) { return load(row + c); });
    });
    const std::int64_t across = tiles_down(p.fn), deep = unit_rows(rows, across, workers);
    const std::int64_t down = (rows + deep - 1) / deep;
    share(workers, across * down, product_cycles(cols, rows < deep ? rows : deep), [&](std::int64_t item) {
      const std::int64_t begin = item % down * deep, left = rows - begin;
      multiply(p, s, item / down, begin, left < deep ? left : deep);
    });
    share(workers, (rows + kLanes - 1) / kLanes, 8000, [&](std::int64_t item) {
      const std::int64_t begin = item * kLanes;
      if (begin + kLanes <= rows) {
        finish_rows(p, first + begin, s.m + begin * outputs(p), outputs(p), s.r + begin);
      } else {
        for (std::int64_t r = begin; r < rows; ++r) finish_row(p, first + r, s.m + r * outputs(p), s.r[r]);
      }
    });
  }
}

}  // namespace manyspan::kernels::MANYSPAN_ISA
