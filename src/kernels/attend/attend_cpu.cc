#include "kernels/attend/attend.h"
#include "kernels/cpu_ops.h"
#include "kernels/simd_math.h"
#include "kernels/simd_rope.h"
#include "kernels/simd_rows.h"
#include "kernels/simd_team.h"
#include "kernels/simd_tile.h"

namespace manyspan::kernels::MANYSPAN_ISA {
namespace {

constexpr std::int64_t kSets = 4;  // sets of sixteen heads that share one decoding of the rows

// A query's heads lie side by side in lanes: scores of all heads come from one broadcast number of a row, the
// block's softmax needs no sum across lanes, and the outputs of each head lie along its own row.
// Eight heads or fewer are there twice, so that two rows of the block go at once ("twins").
struct State {
  alignas(64) float row[kAttendBlock * kMostHeadDim];   // of the block at hand
  alignas(64) float q[kSets][kMostHeadDim * kLanes];    // [column][head]
  alignas(64) float acc[kSets][kLanes * kMostHeadDim];  // [head][column]
  F most[kSets], sum[kSets];
};

// Finds pages; those of neighbouring rows are looked up once.
class Pages {
 public:
  MANYSPAN_INLINE Pages(const Attend& p, std::int64_t slot) : p_(p), slot_(slot) {}

  MANYSPAN_INLINE void window_row(std::int64_t position, float* out) {
    if (position / kWindowPageRows != window_) {
      window_ = position / kWindowPageRows;
      page_ = p_.window.page(slot_, position);
    }
    const std::byte *codes = p_.window.codes_in(page_, position),
                    *scales = p_.window.scales_in(page_, position);
    for (std::int64_t c = 0; c < p_.window.head_dim; c += 2 * kLanes) {
      const F scale = all(power(static_cast<std::uint8_t>(scales[c / 32])));
      store(e4m3_small(codes + c) * all(kE4m3Unit) * scale, out + c);
      store(e4m3_small(codes + c + kLanes) * all(kE4m3Unit) * scale, out + c + kLanes);
    }
  }

  MANYSPAN_INLINE void selected_row(std::int64_t row, float* out) {
    if (row / kSourcePageRows != source_) {
      source_ = row / kSourcePageRows;
      page_ = p_.source.page(slot_, row);
    }
    const std::byte *codes = p_.source.codes_in(page_, row), *scales = p_.source.scales_in(page_, row);
    for (std::int64_t c = 0; c < p_.source.head_dim; c += kLanes) {
      const F half = all(0.5f * e4m3_value(static_cast<std::uint8_t>(scales[c / 16])));
      store(e2m1_row_doubled(codes + c / 2) * half, out + c);
    }
  }

 private:
  const Attend& p_;
  std::int64_t slot_;
  std::int64_t window_ = -1,
               source_ = -1;  // which page `page_` is: window rows come first, then selected ones
  std::byte* page_ = nullptr;
};

// One query's heads [first, first + heads), heads ≤ 16, rotated, into the lanes of a set.
void lay_queries(const Attend& p, std::int64_t t, std::int64_t first, std::int64_t heads,
                 const Turning& turning, float* set) {
  const std::int64_t d = p.window.head_dim;
  alignas(64) float row[kMostHeadDim];
  if (heads != kLanes) std::memset(set, 0, static_cast<std::size_t>(d) * kLanes * sizeof(float));
  for (std::int64_t h = 0; h < heads; ++h) {
    widen(p.q.row(t) + (first + h) * d, d, row);
    turning.turn(row + d - p.rope.dims);
    for (std::int64_t c = 0; c < d; ++c) set[c * kLanes + h] = row[c];
    for (std::int64_t c = 0; heads <= kLanes / 2 && c < d; ++c) set[c * kLanes + kLanes / 2 + h] = row[c];
  }
}

// One block of `count` rows, at row[i], for the heads of one set. What lies in a lane depends on the number of
// heads and of rows in the block alone, and so does every sum's order.
template <bool Twins>
void step(const Attend& p, const float** row, std::int64_t count, std::int64_t heads, State& s,
          std::int64_t set) {
  constexpr std::int64_t kWide = Twins ? kLanes / 2 : kLanes;  // scores of a row
  const std::int64_t d = p.window.head_dim, groups = Twins ? (count + 1) / 2 : count;
  alignas(64) float score[kAttendBlock * kLanes];
  std::memset(score, 0, static_cast<std::size_t>(groups) * kLanes * sizeof(float));
  if (Twins && count % 2 != 0) row[count] = row[count - 1];
  add_products<Twins>(groups, s.q[set], kLanes, row, 1, d, score);
  if (Twins && count % 2 != 0) {  // the odd one out has no twin
    for (std::int64_t h = 0; h < kWide; ++h) score[count * kWide + h] = -1e38f;
  }
  const F before = s.most[set], scale = all(p.scale);
  F most = before;
  for (std::int64_t i = 0; i < groups; ++i) {
    const F scaled = load(score + i * kLanes) * scale;
    store(scaled, score + i * kLanes);
    most = max(most, scaled);
  }
  if (Twins) most = max(most, swapped(most));
  F total = zero();
  for (std::int64_t i = 0; i < groups; ++i) {
    const F weight = exp(load(score + i * kLanes) - most);
    total = total + weight;
    store(round_bf16(weight), score + i * kLanes);
  }
  if (Twins) total = total + swapped(total);
  const F shrink = exp(before - most);
  s.sum[set] = fma(s.sum[set], shrink, total);
  s.most[set] = most;

  const float* weights[kLanes] = {};
  for (std::int64_t h = 0; h < heads; ++h) weights[h] = score + h;
  alignas(64) float by[kLanes], sums[kLanes * kLanes];
  store(shrink, by);
  for (std::int64_t c = 0; c < d; c += kLanes) {
    std::memset(sums, 0, static_cast<std::size_t>(heads) * kLanes * sizeof(float));
    add_products(heads, row[0] + c, d, weights, kWide, count, sums);
    for (std::int64_t h = 0; h < heads; ++h) {
      float* acc = s.acc[set] + h * d + c;
      store(fma(load(acc), all(by[h]), load(sums + h * kLanes)), acc);
    }
  }
}

void finish(const Attend& p, std::int64_t t, std::int64_t first, std::int64_t heads, const Turning& turning,
            State& s, std::int64_t set) {
  const std::int64_t d = p.window.head_dim;
  alignas(64) float total[kLanes];
  store(s.sum[set] + exp(load_first(p.sink + first, heads) - s.most[set]), total);
  for (std::int64_t h = 0; h < heads; ++h) {
    float* acc = s.acc[set] + h * d;
    for (std::int64_t c = 0; c < d; c += kLanes) store(round_bf16(load(acc + c) / all(total[h])), acc + c);
    if (p.core_tap.data != nullptr) narrow(acc, d, p.core_tap.row(t) + (first + h) * d);
    turning.turn_back(acc + d - p.rope.dims);
    narrow(acc, d, p.o.row(t) + (first + h) * d);
  }
}

// One query for heads [first, first + heads), at most 64.
void query(const Attend& p, std::int64_t t, std::int64_t first, std::int64_t heads) {
  const std::int64_t d = p.window.head_dim, slot = p.batch.slot[t], position = p.batch.position[t].value;
  const std::int64_t sets = (heads + kLanes - 1) / kLanes;
  State s;
  const Turning turning(p.rope, position);
  const auto heads_of = [&](std::int64_t set) {
    return heads - set * kLanes < kLanes ? heads - set * kLanes : std::int64_t{kLanes};
  };
  for (std::int64_t set = 0; set < sets; ++set) {
    lay_queries(p, t, first + set * kLanes, heads_of(set), turning, s.q[set]);
    std::memset(s.acc[set], 0, static_cast<std::size_t>(heads_of(set) * d) * sizeof(float));
    s.most[set] = all(-1e30f);
    s.sum[set] = zero();
  }
  Pages pages(p, slot);
  const std::int64_t window = position + 1 < p.window_rows ? position + 1 : p.window_rows;
  const std::int64_t selected = p.source.ratio > 0 ? p.selected.count[t] : 0;
  const std::int32_t* chosen = p.selected.rows + t * p.selected.width;
  const std::int64_t list = p.window_rows + selected;
  for (std::int64_t begin = 0; begin < list; begin += kAttendBlock) {
    const std::int64_t end = begin + kAttendBlock < list ? begin + kAttendBlock : list;
    const float* row[kAttendBlock + 1] = {};
    std::int64_t count = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      if (i >= window && i < p.window_rows) continue;
      float* to = s.row + count * d;
      if (i < window) {
        pages.window_row(position - window + 1 + i, to);
      } else {
        pages.selected_row(chosen[i - p.window_rows], to);
      }
      row[count++] = to;
    }
    for (std::int64_t set = 0; count > 0 && set < sets; ++set) {
      if (heads_of(set) <= kLanes / 2) {
        step<true>(p, row, count, heads_of(set), s, set);
      } else {
        step<false>(p, row, count, heads_of(set), s, set);
      }
    }
  }
  for (std::int64_t set = 0; set < sets; ++set) {
    finish(p, t, first + set * kLanes, heads_of(set), turning, s, set);
  }
}

}  // namespace

const char* attend_refuses(const Attend& p) {
  if (p.window.head_dim > kMostHeadDim || p.window.head_dim % 32 != 0) {
    return "heads are a multiple of 32 columns wide, at most 512";
  }
  if (p.rope.dims > kMostRopeDims || p.rope.dims > p.window.head_dim) return "at most 256 rotated columns";
  return nullptr;
}

void attend(Queue& queue, const Attend& p) {
  Workers& workers = workers_of(queue);
  const std::int64_t used = rows_used(p.batch.rows, p.batch.used);
  // Few queries: fewer heads a unit, so that there is one for every thread; each decodes the rows again. Sets
  // stay whole, so that a head's lane is the same however many queries there are.
  std::int64_t heads = kSets * kLanes;
  while (heads > kLanes && used * ((p.heads + heads - 1) / heads) < 2 * workers.threads()) heads /= 2;
  const std::int64_t units = (p.heads + heads - 1) / heads;
  const std::int64_t cycles = (heads < p.heads ? heads : p.heads) * p.window.head_dim * 16;
  share(workers, used * units, cycles, [&](std::int64_t item) {
    const std::int64_t first = item % units * heads, left = p.heads - first;
    query(p, item / units, first, left < heads ? left : heads);
  });
}

}  // namespace manyspan::kernels::MANYSPAN_ISA
