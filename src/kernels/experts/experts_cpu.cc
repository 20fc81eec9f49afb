#include "kernels/cpu_ops.h"
#include "kernels/experts/experts.h"
#include "kernels/simd_product.h"
#include "kernels/simd_work.h"

namespace manyspan::kernels::MANYSPAN_ISA {
namespace {

constexpr std::int64_t kGroup = 2 * kLanes;                  // columns that are rounded together
constexpr std::int64_t kMostBytes = std::int64_t{64} << 20;  // of activations; bounds the rows of a chunk
constexpr std::int64_t kFinalRows = 384;                     // whose sums one unit holds

// One expert's rows within a chunk: pairs [begin, end) of the plan's list, or all rows for the shared one.
// The n-th has its activations in row a + n of `Scratch::a`.
struct Job {
  Weight gate_up, up, down;
  const std::int32_t* pair;  // null: the shared expert, whose n-th row is the chunk's n-th
  std::int64_t rows, a;
};

struct Scratch {
  float* x;   // [chunk] rows of D
  float* a;   // [chunk·(k + 1)] rows of inner
  Job* jobs;  // [E + 1], ascending, the shared one last
};

MANYSPAN_INLINE std::int64_t inner_of(const Experts& p) { return p.down.cols; }

std::int64_t chunk_rows(const Experts& p, std::int64_t rows) {
  const std::int64_t bytes = 4 * (p.routes.k + 1) * row_step(inner_of(p)) + 4 * row_step(p.gate_up.cols);
  std::int64_t chunk = kMostBytes / bytes;
  if (chunk < kMostRows) chunk = kMostRows;
  return rows < chunk ? rows : chunk;
}

Scratch scratch(const Experts& p, std::int64_t chunk, Cutter& cut) {
  return {cut.array<float>(chunk * row_step(p.gate_up.cols)),
          cut.array<float>(chunk * (p.routes.k + 1) * row_step(inner_of(p))),
          cut.array<Job>(p.expert_count + 1)};
}

// First of an expert's pairs [begin, end), rows ascending, whose row is at least `row`.
MANYSPAN_INLINE std::int64_t first_from(const std::int32_t* list, std::int64_t begin, std::int64_t end,
                                        std::int64_t pair) {
  while (begin < end) {
    const std::int64_t middle = begin + (end - begin) / 2;
    if (list[middle] < pair) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

// The jobs of rows [first, first + rows); experts without any are left out.
std::int64_t list_jobs(const Experts& p, std::int64_t first, std::int64_t rows, Job* jobs) {
  const std::int32_t *plan = p.routes.plan, *list = plan + p.expert_count + 1;
  std::int64_t count = 0, a = 0;
  for (std::int32_t e = 0; e < p.expert_count; ++e) {
    const std::int64_t begin = first_from(list, plan[e], plan[e + 1], first * p.routes.k);
    const std::int64_t end = first_from(list, begin, plan[e + 1], (first + rows) * p.routes.k);
    if (begin == end) continue;
    const std::int32_t at = p.place == nullptr ? e : p.place[e];
    jobs[count++] = {nth(p.gate_up, at), nth(p.up, at), nth(p.down, at), list + begin, end - begin, a};
    a += end - begin;
  }
  jobs[count++] = {p.shared_gate_up, p.shared_up, p.shared_down, nullptr, rows, a};
  return count;
}

MANYSPAN_INLINE std::int64_t row_of(const Experts& p, const Job& job, std::int64_t n, std::int64_t first) {
  return job.pair == nullptr ? n : job.pair[n] / p.routes.k - first;
}

// silu(g)·u·weight of sixteen columns, from f32 sums.
MANYSPAN_INLINE F activation(const Experts& p, F g, F u, bool weighted, float weight) {
  g = round_bf16(g), u = round_bf16(u);
  if (p.limit > 0) {
    u = min(max(u, all(-p.limit)), all(p.limit));
    g = min(g, all(p.limit));
  }
  F a = g * sigmoid(g) * u;
  if (weighted) a = all(weight) * a;
  return round_bf16(a);
}

// The sums that 32 columns of activations are made of: gates and ups of each row, from one matrix or from two.
struct Halves {
  alignas(64) float sums[2][kTilesAtOnce * kMostRows * kLanes];
  std::int64_t rows;
  bool paired;

  MANYSPAN_INLINE void multiply(const Job& job, std::int64_t group, const float* const* x,
                                std::int64_t count) {
    rows = count, paired = job.up.rows == 0;
    for (int i = 0; i < 2; ++i) {
      const std::int64_t tile = paired ? 2 * (2 * group + i) : 2 * group;
      tile_products(paired || i == 0 ? job.gate_up : job.up, tile, kTilesAtOnce, x, rows, sums[i]);
    }
  }
  MANYSPAN_INLINE const float* tile(int of, int i, std::int64_t r) const {
    return sums[of] + (i * rows + r) * kLanes;
  }
  // Sixteen columns of row r: a tile of the pair holds eight gates, then their eight ups.
  MANYSPAN_INLINE void read(int half, std::int64_t r, F& gate, F& up) const {
    if (!paired) {
      gate = load(tile(0, half, r)), up = load(tile(1, half, r));
      return;
    }
    alignas(64) float g[kLanes], u[kLanes];
    for (int i = 0; i < 2; ++i) {
      std::memcpy(g + 8 * i, tile(half, i, r), 8 * sizeof(float));
      std::memcpy(u + 8 * i, tile(half, i, r) + 8, 8 * sizeof(float));
    }
    gate = load(g), up = load(u);
  }
};

// Columns [32·group, 32·group + 32) of the activations of rows [begin, begin + rows) of a job.
void go_up(const Experts& p, const Job& job, const Scratch& s, std::int64_t first, std::int64_t group,
           std::int64_t begin, std::int64_t rows) {
  Halves halves;
  const float* at[kMostRows] = {};
  const std::int64_t step = row_step(p.gate_up.cols), inner = inner_of(p);
  for (std::int64_t r = 0; r < rows; ++r) at[r] = s.x + row_of(p, job, begin + r, first) * step;
  halves.multiply(job, group, at, rows);
  for (std::int64_t r = 0; r < rows; ++r) {
    F a[2];
    for (int half = 0; half < 2; ++half) {
      F gate, up;
      halves.read(half, r, gate, up);
      const float weight = job.pair == nullptr ? 0 : p.routes.weight[job.pair[begin + r]];
      a[half] = activation(p, gate, up, job.pair != nullptr, weight);
    }
    grid8(a[0], a[1]);
    float* to = s.a + (job.a + begin + r) * row_step(inner) + group * kGroup;
    store(a[0], to);
    store(a[1], to + kLanes);
  }
}

// Columns [32·group, 32·group + 32) of y for rows [begin, begin + rows) of the chunk.
void come_down(const Experts& p, const Scratch& s, std::int64_t jobs, std::int64_t first, std::int64_t group,
               std::int64_t begin, std::int64_t rows) {
  alignas(64) float sums[kTilesAtOnce * kMostRows * kLanes];
  alignas(64) float y[kFinalRows][kGroup];
  std::memset(y, 0, static_cast<std::size_t>(rows) * sizeof y[0]);
  const std::int64_t step = row_step(inner_of(p));
  for (std::int64_t j = 0; j < jobs; ++j) {
    const Job& job = s.jobs[j];
    std::int64_t n = begin, end = begin + rows;
    if (job.pair != nullptr) {
      n = first_from(job.pair, 0, job.rows, (first + begin) * p.routes.k);
      end = first_from(job.pair, n, job.rows, (first + begin + rows) * p.routes.k);
    }
    while (n < end) {
      const std::int64_t some = end - n < kMostRows ? end - n : kMostRows;
      const float* at[kMostRows] = {};
      for (std::int64_t r = 0; r < some; ++r) at[r] = s.a + (job.a + n + r) * step;
      tile_products(job.down, group * kTilesAtOnce, kTilesAtOnce, at, some, sums);
      for (std::int64_t r = 0; r < some; ++r) {
        float* to = y[row_of(p, job, n + r, first) - begin];
        store(load(to) + round_bf16(load(sums + r * kLanes)), to);
        store(load(to + kLanes) + round_bf16(load(sums + (some + r) * kLanes)), to + kLanes);
      }
      n += some;
    }
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    Bf16* to = p.y.row(first + begin + r) + group * kGroup;
    store(load(y[r]), to);
    store(load(y[r] + kLanes), to + kLanes);
  }
}

// Where unit `item` lies among jobs that are each cut into `groups` x pieces of `deep` rows.
struct Piece {
  const Job* job;
  std::int64_t group, begin, rows;
};
MANYSPAN_INLINE std::int64_t pieces_of(const Job& job, std::int64_t groups, std::int64_t deep) {
  return groups * ((job.rows + deep - 1) / deep);
}
MANYSPAN_INLINE Piece piece(const Job* last, std::int64_t item, std::int64_t groups, std::int64_t deep) {
  const Job* job = last;  // from the shared one, the largest, down
  for (; item >= pieces_of(*job, groups, deep); --job) item -= pieces_of(*job, groups, deep);
  const std::int64_t begin = item / groups * deep, left = job->rows - begin;
  return {job, item % groups, begin, left < deep ? left : deep};
}

}  // namespace

std::size_t experts_work(const Experts& p) {
  Cutter cut({});
  scratch(p, chunk_rows(p, p.batch.rows), cut);
  return cut.bytes();
}

const char* experts_refuses(const Experts& p) {
  const std::int64_t inner = inner_of(p);
  if (p.gate_up.cols % 32 != 0 || inner % 32 != 0) return "inner and D are multiples of 32";
  const Weight* const halves[][2] = {{&p.gate_up, &p.up}, {&p.shared_gate_up, &p.shared_up}};
  for (const auto& [gate, up] : halves) {
    const bool paired = up->rows == 0;
    if (gate->rows != (paired ? 2 : 1) * inner || (!paired && up->rows != inner))
      return "gate and up are inner rows";
    if (gate->tiling != Tiling::cpu16x32 || (gate->order == RowOrder::paired8) != paired)
      return "gate_up is paired in tiles, unless up lies elsewhere";
    if (!paired && (up->tiling != Tiling::cpu16x32 || up->order != RowOrder::natural))
      return "up is in plain tiles";
  }
  for (const Weight* w : {&p.down, &p.shared_down}) {
    if (w->tiling != Tiling::cpu16x32 || w->order != RowOrder::natural) return "down is in plain tiles";
  }
  return nullptr;
}

void experts(Queue& queue, const Experts& p) {
  Workers& workers = workers_of(queue);
  const std::int64_t used = rows_used(p.batch.rows, p.batch.used), d = p.gate_up.cols, inner = inner_of(p);
  const std::int64_t chunk = chunk_rows(p, used);
  Cutter cut(p.work);
  const Scratch s = scratch(p, chunk, cut);
  for (std::int64_t first = 0; first < used; first += chunk) {
    const std::int64_t rows = used - first < chunk ? used - first : chunk;
    share(workers, rows, d / 8,
          [&](std::int64_t r) { widen(p.x8.row(first + r), d, s.x + r * row_step(d)); });
    const std::int64_t jobs = list_jobs(p, first, rows, s.jobs), groups = inner / kGroup;

    const std::int64_t deep = unit_rows(rows, groups * jobs, workers);
    std::int64_t pieces = 0;
    for (std::int64_t j = 0; j < jobs; ++j) pieces += pieces_of(s.jobs[j], groups, deep);
    share(workers, pieces, 2 * product_cycles(d, rows < deep ? 1 : deep), [&](std::int64_t item) {
      const Piece at = piece(s.jobs + jobs - 1, item, groups, deep);
      go_up(p, *at.job, s, first, at.group, at.begin, at.rows);
    });

    const std::int64_t final_groups = d / kGroup;
    std::int64_t tall = kFinalRows;
    while (tall > 48 && (rows + tall - 1) / tall * final_groups < 3 * workers.threads()) tall /= 2;
    const std::int64_t down = (rows + tall - 1) / tall;
    const std::int64_t cycles =
        product_cycles(inner, rows < tall ? rows : tall) * (rows == 1 ? jobs : p.routes.k + 1);
    share(workers, final_groups * down, cycles, [&](std::int64_t item) {
      const std::int64_t begin = item % down * tall, left = rows - begin;
      come_down(p, s, jobs, first, item / down, begin, left < tall ? left : tall);
    });
  }
}

}  // namespace manyspan::kernels::MANYSPAN_ISA
