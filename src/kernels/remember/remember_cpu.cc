#include "kernels/cpu_ops.h"
#include "kernels/remember/remember.h"
#include "kernels/simd_product.h"
#include "kernels/simd_rope.h"
#include "kernels/simd_work.h"

namespace manyspan::kernels::MANYSPAN_ISA {
namespace {

struct Scratch {
  float* latent;        // [T] rows of head_dim
  float* key;           // [T] rows of key_dim
  std::int32_t* ender;  // [T] the batch row that completes the n-th group
};

MANYSPAN_INLINE Scratch scratch(const Remember& p, std::int64_t rows, Cutter& cut) {
  if (p.source.ratio <= 0) return {};
  return {cut.array<float>(rows * row_step(p.source.head_dim)),
          cut.array<float>(rows * row_step(p.source.key_dim)), cut.array<std::int32_t>(rows)};
}

MANYSPAN_INLINE std::uint8_t* bytes(std::byte* at) { return reinterpret_cast<std::uint8_t*>(at); }

// Sixteen codes into eight bytes, the even column low.
MANYSPAN_INLINE void store_nibbles(I codes, std::uint8_t* to) {
  std::uint8_t code[kLanes];
  store_u8(codes, code);
  for (int i = 0; i < kLanes / 2; ++i) {
    to[i] = static_cast<std::uint8_t>(code[2 * i] | code[2 * i + 1] << 4);
  }
}

void window_key(const Remember& p, std::int64_t t) {
  const std::int64_t d = p.window.head_dim, position = p.batch.position[t].value, slot = p.batch.slot[t];
  alignas(64) float row[kMostHeadDim];
  widen(p.k.row(t), d, row);
  norm(row, p.k_gain, p.eps, d);
  Turning(p.rope, position).turn(row + d - p.rope.dims);
  std::uint8_t *codes = bytes(p.window.codes(slot, position)),
               *scales = bytes(p.window.scales(slot, position));
  for (std::int64_t c = 0; c < d; c += 2 * kLanes) {
    F a = load(row + c), b = load(row + c + kLanes);
    scales[c / 32] = static_cast<std::uint8_t>(grid8_codes(a, b));
    store_u8(codes_e4m3(a), codes + c);
    store_u8(codes_e4m3(b), codes + c + kLanes);
  }
}

// bf16(Σ_t a_t·softmax_t(g_t)) over the group that batch row `ender` completes; tokens before the run come
// from the tail.
void squeeze(const Remember& p, std::int64_t ender, float* out) {
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
  for (std::int64_t c = 0; c < padded_cols(d); c += kLanes) {
    F most = load_at(g[0], c, d), e[kTailTokens], sum = zero(), total = zero();
    for (std::int64_t i = 1; i < ratio; ++i) most = max(most, load_at(g[i], c, d));
    for (std::int64_t i = 0; i < ratio; ++i) {
      e[i] = exp(load_at(g[i], c, d) - most);
      sum = sum + e[i];
    }
    for (std::int64_t i = 0; i < ratio; ++i) total = fma(load_at(a[i], c, d), e[i] / sum, total);
    store(round_bf16(total), out + c);
  }
}

void keep_tail(const Remember& p, const Run& run) {
  const std::int64_t d = p.source.head_dim;
  for (std::int64_t i = run.rows > kTailTokens ? run.rows - kTailTokens : 0; i < run.rows; ++i) {
    float* to = p.tail.at(run.slot, run.first.value + i, d);
    std::memcpy(to, p.a.row(run.row + i), static_cast<std::size_t>(d) * sizeof(float));
    std::memcpy(to + d, p.g.row(run.row + i), static_cast<std::size_t>(d) * sizeof(float));
  }
}

// The n-th latent: squeezed or taken over, and normed.
void latent_of(const Remember& p, std::int64_t n, std::int64_t ender, float* latent) {
  const std::int64_t d = p.source.head_dim;
  if (p.source.ratio > 1) {
    squeeze(p, ender, latent);
  } else {
    widen(p.row.row(ender), d, latent);
  }
  norm(latent, p.row_gain, p.eps, d);
  if (p.latent_tap.data != nullptr) narrow(latent, d, p.latent_tap.row(n));
}

// What keep() stored, as it travels.
void publish(const Remember& p, std::int64_t ender, std::int64_t slot, std::int64_t row) {
  const SourceView& from = p.source;
  std::byte* to = p.published.row(ender);
  const auto put = [&](const std::byte* bytes, std::int64_t count) {
    std::memcpy(to, bytes, static_cast<std::size_t>(count));
    to += count;
  };
  put(from.codes(slot, row), from.head_dim / 2);
  put(from.scales(slot, row), from.head_dim / 16);
  put(from.key_codes(slot, row), from.key_dim / 2);
  put(from.key_scales(slot, row), from.key_dim / 32);
}

// Rotates and stores the latent's row and its key.
void keep(const Remember& p, std::int64_t ender, float* latent, float* key) {
  const SourceView& to = p.source;
  const std::int64_t slot = p.batch.slot[ender], row = p.batch.position[ender].value / to.ratio;
  const Turning turning(p.rope, row * to.ratio);
  norm(key, p.key_gain, p.eps, to.key_dim);
  turning.turn(key + to.key_dim - p.rope.dims);
  std::uint8_t *codes = bytes(to.key_codes(slot, row)), *scales = bytes(to.key_scales(slot, row));
  for (std::int64_t c = 0; c < to.key_dim; c += 2 * kLanes) {
    F a = load(key + c), b = load(key + c + kLanes);
    scales[c / 32] = static_cast<std::uint8_t>(grid4_key_codes(a, b));
    store_nibbles(codes_e2m1(a), codes + c / 2);
    store_nibbles(codes_e2m1(b), codes + c / 2 + kLanes / 2);
  }
  turning.turn(latent + to.head_dim - p.rope.dims);
  codes = bytes(to.codes(slot, row)), scales = bytes(to.scales(slot, row));
  for (std::int64_t c = 0; c < to.head_dim; c += kLanes) {
    F a = load(latent + c);
    scales[c / 16] = grid4_row_codes(a);
    store_nibbles(codes_e2m1(a), codes + c / 2);
  }
  if (p.published.data != nullptr) publish(p, ender, slot, row);
}

// bf16(wk·latent) of rows [begin, begin + rows) into one tile's sixteen columns of key.
void key_products(const Remember& p, const Scratch& s, std::int64_t tile, std::int64_t begin,
                  std::int64_t rows) {
  alignas(64) float sums[kMostRows * kLanes];
  const float* at[kMostRows] = {};
  for (std::int64_t r = 0; r < rows; ++r) at[r] = s.latent + (begin + r) * row_step(p.source.head_dim);
  tile_products(p.wk, tile, 1, at, rows, sums);
  for (std::int64_t r = 0; r < rows; ++r) {
    store(round_bf16(load(sums + r * kLanes)),
          s.key + (begin + r) * row_step(p.source.key_dim) + tile * kLanes);
  }
}

}  // namespace

std::size_t remember_work(const Remember& p) {
  Cutter cut({});
  scratch(p, p.batch.rows, cut);
  return cut.bytes();
}

const char* remember_refuses(const Remember& p) {
  if (p.window.head_dim > kMostHeadDim || p.window.head_dim % 32 != 0) {
    return "heads are a multiple of 32 columns wide, at most 512";
  }
  if (p.rope.dims > kMostRopeDims) return "at most 256 rotated columns";
  if (p.source.ratio <= 0) return nullptr;
  if (p.source.ratio > kTailTokens) return "a group fits into the tail";
  if (p.source.head_dim % 32 != 0 || p.source.key_dim % 32 != 0)
    return "rows and keys have whole groups of 32";
  return p.wk.tiling == Tiling::cpu16x32 ? nullptr : "matrices are in tiles of 16 x 32";
}

void remember(Queue& queue, const Remember& p) {
  Workers& workers = workers_of(queue);
  const std::int64_t used = rows_used(p.batch.rows, p.batch.used);
  if (p.k.data != nullptr) {
    share(workers, used, 1000 + 8 * p.window.head_dim, [&](std::int64_t t) { window_key(p, t); });
  }
  if (p.source.pool == nullptr) return;

  Cutter cut(p.work);
  const Scratch s = scratch(p, used, cut);
  const std::int64_t d = p.source.head_dim, ratio = p.source.ratio;
  std::int64_t groups = 0;
  for (std::int64_t t = 0; t < used; ++t) {
    if ((p.batch.position[t].value + 1) % ratio == 0) s.ender[groups++] = static_cast<std::int32_t>(t);
  }
  share(workers, groups, 8 * ratio * d,
        [&](std::int64_t n) { latent_of(p, n, s.ender[n], s.latent + n * row_step(d)); });
  if (ratio > 1) {
    share(workers, *p.batch.run_count, 4 * d, [&](std::int64_t r) { keep_tail(p, p.batch.runs[r]); });
  }
  if (groups == 0) return;
  const std::int64_t across = tiles_down(p.wk), deep = unit_rows(groups, across, workers);
  const std::int64_t down = (groups + deep - 1) / deep;
  share(workers, across * down, product_cycles(d, groups < deep ? groups : deep), [&](std::int64_t item) {
    const std::int64_t begin = item % down * deep, left = groups - begin;
    key_products(p, s, item / down, begin, left < deep ? left : deep);
  });
  share(workers, groups, 1000 + 8 * d, [&](std::int64_t n) {
    keep(p, s.ender[n], s.latent + n * row_step(d), s.key + n * row_step(p.source.key_dim));
  });
}

}  // namespace manyspan::kernels::MANYSPAN_ISA
