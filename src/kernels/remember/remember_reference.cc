#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "device/host_device.h"
#include "kernels/carve.h"
#include "kernels/dots.h"
#include "kernels/reference_ops.h"
#include "kernels/rms_norm/rms_norm.h"
#include "kernels/round/round.h"

namespace manyspan::kernels::reference {
namespace {

struct Scratch {
  Bf16* row;            // [T][head_dim]: the window key; later the latent
  Bf16* key;            // [T][key_dim]
  double* octets;       // up to 64 latents
  std::int32_t* ender;  // [T] the batch row that completes the n-th group
};

Scratch scratch(const Remember& p, Carve& carve) {
  const std::int64_t d = p.window.head_dim, rows = p.batch.rows;
  const bool source = p.source.ratio > 0;
  return {carve.array<Bf16>(rows * std::max<std::int64_t>(d, p.source.head_dim)),
          carve.array<Bf16>(source ? rows * p.source.key_dim : 0),
          carve.array<double>(source ? octet_doubles(kDotRows, p.source.head_dim) : 0),
          carve.array<std::int32_t>(rows)};
}

std::uint8_t* bytes(std::byte* at) { return reinterpret_cast<std::uint8_t*>(at); }

void rope_tail(const Rope& rope, std::int64_t position, Bf16* row, std::int64_t d) {
  rope_row(rope, position, false, row + d - rope.dims);
}

void window_key(const Remember& p, std::int64_t t, Bf16* row) {
  const std::int64_t d = p.window.head_dim, position = p.batch.position[t].value, slot = p.batch.slot[t];
  norm_row(p.k.row(t), p.k_gain, p.eps, d, row);
  rope_tail(p.rope, position, row, d);
  grid8_encode(row, d, bytes(p.window.codes(slot, position)), bytes(p.window.scales(slot, position)));
}

// bf16(Σ_t a_t·softmax_t(g_t)) over the group that batch row `ender` completes; tokens before the run come
// from the tail.
void squeeze(const Remember& p, std::int64_t ender, Bf16* out) {
  const std::int64_t d = p.source.head_dim, ratio = p.source.ratio, slot = p.batch.slot[ender];
  const std::int64_t last = p.batch.position[ender].value, first = last + 1 - ratio;
  const std::int64_t run_first = p.batch.runs[p.batch.run_of[ender]].first.value;
  const float *a[kTailTokens], *g[kTailTokens];
  for (std::int64_t i = 0; i < ratio; ++i) {
    if (first + i >= run_first) {
      a[i] = p.a.row(ender - (ratio - 1 - i));
      g[i] = p.g.row(ender - (ratio - 1 - i));
    } else {
      a[i] = p.tail.at(slot, first + i, d);
      g[i] = a[i] + d;
    }
  }
  for (std::int64_t c = 0; c < d; ++c) {
    float most = g[0][c], e[kTailTokens], sum = 0;
    for (std::int64_t i = 1; i < ratio; ++i) most = std::max(most, g[i][c]);
    for (std::int64_t i = 0; i < ratio; ++i) {
      e[i] = static_cast<float>(std::exp(static_cast<double>(g[i][c] - most)));
      sum += e[i];
    }
    double total = 0;
    for (std::int64_t i = 0; i < ratio; ++i) total += static_cast<double>(a[i][c]) * (e[i] / sum);
    out[c] = to_bf16(static_cast<float>(total));
  }
}

void keep_tail(const Remember& p, const Run& run) {
  const std::int64_t d = p.source.head_dim;
  for (std::int64_t i = std::max(0, run.rows - kTailTokens); i < run.rows; ++i) {
    float* to = p.tail.at(run.slot, run.first.value + i, d);
    std::copy_n(p.a.row(run.row + i), d, to);
    std::copy_n(p.g.row(run.row + i), d, to + d);
  }
}

// key = bf16(wk·latent) for all latents
void key_dots(Workers& workers, const Remember& p, std::int64_t groups, const Scratch& s) {
  const std::int64_t d = p.source.head_dim, key_dim = p.source.key_dim;
  for (std::int64_t first = 0; first < groups; first += kDotRows) {
    const std::int64_t rows = std::min<std::int64_t>(kDotRows, groups - first);
    workers.for_each(octets_of(rows), [&](std::int64_t o, int) {
      for (int lane = 0; lane < kOctet; ++lane) {
        const std::int64_t r = o * kOctet + lane;
        set_lane(r < rows ? s.row + (first + r) * d : nullptr, d, lane, s.octets + o * d * kOctet);
      }
    });
    workers.for_each(key_dim, [&](std::int64_t n, int) {
      float dot[kDotRows];
      row_dots(p.wk, n, s.octets, rows, dot);
      for (std::int64_t r = 0; r < rows; ++r) s.key[(first + r) * key_dim + n] = to_bf16(dot[r]);
    });
  }
}

// Rotates and stores the latent's row and its key.
void store(const Remember& p, std::int64_t ender, Bf16* latent, Bf16* key) {
  const SourceView& to = p.source;
  const std::int64_t slot = p.batch.slot[ender];
  const std::int64_t row = p.batch.position[ender].value / to.ratio, position = row * to.ratio;
  norm_row(key, p.key_gain, p.eps, to.key_dim, key);
  rope_tail(p.rope, position, key, to.key_dim);
  grid4_key_encode(key, to.key_dim, bytes(to.key_codes(slot, row)), bytes(to.key_scales(slot, row)));
  rope_tail(p.rope, position, latent, to.head_dim);
  grid4_row_encode(latent, to.head_dim, bytes(to.codes(slot, row)), bytes(to.scales(slot, row)));
  if (p.published.data == nullptr) return;
  std::byte* out = p.published.row(ender);
  out = std::copy_n(to.codes(slot, row), to.head_dim / 2, out);
  out = std::copy_n(to.scales(slot, row), to.head_dim / 16, out);
  out = std::copy_n(to.key_codes(slot, row), to.key_dim / 2, out);
  std::copy_n(to.key_scales(slot, row), to.key_dim / 32, out);
}

}  // namespace

std::size_t remember_work(const Remember& p) {
  Carve carve;
  scratch(p, carve);
  return carve.bytes();
}

void remember(Queue& queue, const Remember& p) {
  Carve carve(p.work);
  const Scratch s = scratch(p, carve);
  Workers& workers = workers_of(queue);
  const std::int64_t used = rows_used(p.batch.rows, p.batch.used);
  if (p.k.data != nullptr) {
    workers.for_each(used, [&](std::int64_t t, int) { window_key(p, t, s.row + t * p.window.head_dim); });
  }
  if (p.source.pool == nullptr) return;

  const std::int64_t d = p.source.head_dim, ratio = p.source.ratio;
  CHECK(ratio >= 1 && ratio <= kTailTokens, "a group fits into the tail");
  std::int64_t groups = 0;
  for (std::int64_t t = 0; t < used; ++t) {
    if ((p.batch.position[t].value + 1) % ratio == 0) s.ender[groups++] = static_cast<std::int32_t>(t);
  }
  workers.for_each(groups, [&](std::int64_t n, int) {
    Bf16* latent = s.row + n * d;
    if (ratio > 1) {
      squeeze(p, s.ender[n], latent);
    } else {
      std::copy_n(p.row.row(s.ender[n]), d, latent);
    }
    norm_row(latent, p.row_gain, p.eps, d, latent);
    if (p.latent_tap.data != nullptr) std::copy_n(latent, d, p.latent_tap.row(n));
  });
  if (ratio > 1) {
    workers.for_each(*p.batch.run_count, [&](std::int64_t r, int) { keep_tail(p, p.batch.runs[r]); });
  }
  key_dots(workers, p, groups, s);
  workers.for_each(groups, [&](std::int64_t n, int) {
    store(p, s.ender[n], s.row + n * d, s.key + n * p.source.key_dim);
  });
}

}  // namespace manyspan::kernels::reference
