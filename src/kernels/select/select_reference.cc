#include <algorithm>
#include <bit>
#include <functional>
#include <limits>

#include "base/check.h"
#include "device/host_device.h"
#include "kernels/carve.h"
#include "kernels/dots.h"
#include "kernels/reference_ops.h"
#include "kernels/round/round.h"

namespace manyspan::kernels::reference {
namespace {

constexpr std::int64_t kQueries = 8;  // of one session, scored together

struct Scratch {
  Bf16* query;          // [8][heads][key_dim]
  float* weight;        // [8][heads]
  double* octets;       // [8 queries][octets of heads]
  float* score;         // [8][most_rows]
  std::uint64_t* rank;  // [8][most_rows]
};

Scratch scratch(const Select& p, Carve& carve) {
  const std::int64_t heads = p.heads, d = p.source.key_dim;
  return {carve.array<Bf16>(kQueries * heads * d), carve.array<float>(kQueries * heads),
          carve.array<double>(kQueries * octet_doubles(heads, d)),
          carve.array<float>(kQueries * std::int64_t{p.most_rows}),
          carve.array<std::uint64_t>(kQueries * std::int64_t{p.most_rows})};
}

const std::uint8_t* bytes(const std::byte* at) { return reinterpret_cast<const std::uint8_t*>(at); }

std::int64_t visible(const Select& p, std::int64_t t) {
  return (p.batch.position[t].value + 1) / p.source.ratio;
}

// Larger for the better score, then for the lower number; a total order whatever the bits of the score are.
std::uint64_t rank_of(float score, std::int64_t number) {
  const std::uint32_t u = std::bit_cast<std::uint32_t>(score == 0 ? 0.0f : score);
  const std::uint32_t key = (u >> 31) != 0 ? ~u : u | 0x80000000u;
  return std::uint64_t{key} << 32 | ~static_cast<std::uint32_t>(number);
}
std::int32_t number_of(std::uint64_t rank) {
  return static_cast<std::int32_t>(~static_cast<std::uint32_t>(rank));
}

// Lists the numbers of the best `width` of `count` ranks, ascending; returns how many. The rest is -1.
std::int32_t take_best(std::uint64_t* rank, std::int64_t count, std::int64_t width, std::int32_t* out) {
  const std::int64_t taken = std::min(count, width);
  if (taken < count) std::nth_element(rank, rank + taken, rank + count, std::greater<>());
  std::transform(rank, rank + taken, out, number_of);
  std::sort(out, out + taken);
  std::fill(out + taken, out + width, -1);
  return static_cast<std::int32_t>(taken);
}

// The query's heads, rotated and on the grid, and their weights.
void prepare(const Select& p, std::int64_t t, std::int64_t i, const Scratch& s) {
  const std::int64_t heads = p.heads, d = p.source.key_dim;
  Bf16* query = s.query + i * heads * d;
  std::copy_n(p.q.row(t), heads * d, query);
  for (std::int64_t h = 0; h < heads; ++h) {
    rope_row(p.rope, p.batch.position[t].value, false, query + (h + 1) * d - p.rope.dims);
    const Bf16 weight = to_bf16(to_float(p.head_weights.row(t)[h]) * p.head_scale);
    s.weight[i * heads + h] = to_float(weight);
    if (p.weight_tap.data != nullptr) p.weight_tap.row(t)[h] = weight;
  }
  grid4_key_row(query, heads * d);
  if (p.query_tap.data != nullptr) std::copy_n(query, heads * d, p.query_tap.row(t));
  for (std::int64_t h = 0; h < octets_of(heads) * kOctet; ++h) {
    double* octet = s.octets + (i * octets_of(heads) + h / kOctet) * d * kOctet;
    set_lane(h < heads ? query + h * d : nullptr, d, static_cast<int>(h % kOctet), octet);
  }
}

// Scores the rows [begin, end) of one session for queries first.. of its run.
void score_rows(const Select& p, std::int64_t first, std::int64_t queries, std::int64_t begin,
                std::int64_t end, const Scratch& s) {
  constexpr std::int64_t kMostKey = 512;
  const std::int64_t heads = p.heads, d = p.source.key_dim, octets = octets_of(heads);
  const std::int64_t slot = p.batch.slot[first];
  CHECK(d <= kMostKey, "index keys are short");
  Bf16 key[kMostKey];
  float wide[kMostKey];
  for (std::int64_t j = begin; j < end; ++j) {
    grid4_key_decode(bytes(p.source.key_codes(slot, j)), bytes(p.source.key_scales(slot, j)), d, key);
    for (std::int64_t c = 0; c < d; ++c) wide[c] = to_float(key[c]);
    for (std::int64_t i = 0; i < queries; ++i) {
      if (j >= visible(p, first + i)) continue;
      double sum = 0;
      for (std::int64_t o = 0; o < octets; ++o) {
        double dots[kOctet] = {};
        add_dots(wide, 0, d, d, s.octets + (i * octets + o) * d * kOctet, 1, dots);
        for (std::int64_t h = o * kOctet; h < std::min(heads, (o + 1) * kOctet); ++h) {
          const float dot = to_float(to_bf16(static_cast<float>(dots[h % kOctet])));
          sum += to_float(to_bf16(std::max(dot, 0.0f) * s.weight[i * heads + h]));
        }
      }
      s.score[i * p.most_rows + j] = to_float(to_bf16(static_cast<float>(sum)));
    }
  }
}

// The blocks that later layers may choose among.
void list_blocks(const Select& p, std::int64_t t, const float* score, std::int64_t rows,
                 std::uint64_t* rank) {
  const std::int64_t size = p.write.block_rows, blocks = (rows + size - 1) / size;
  for (std::int64_t b = 0; b < blocks; ++b) {
    float best = -std::numeric_limits<float>::infinity();
    for (std::int64_t j = b * size; j < std::min(rows, (b + 1) * size); ++j) best = std::max(best, score[j]);
    if (b + 1 == blocks) best = std::numeric_limits<float>::infinity();
    rank[b] = rank_of(best, b);
  }
  const std::int64_t width = p.write.width;
  p.write.count[t] = take_best(rank, blocks, width, p.write.blocks + t * width);
}

void list_rows(const Select& p, std::int64_t t, const float* score, std::int64_t rows, std::uint64_t* rank) {
  std::int64_t count = 0;
  const auto admit = [&](std::int64_t j) {
    if (j < rows) rank[count++] = rank_of(score[j], j);
  };
  if (p.read.blocks == nullptr) {
    for (std::int64_t j = 0; j < rows; ++j) admit(j);
  } else {
    for (std::int64_t i = 0; i < p.read.count[t]; ++i) {
      const std::int64_t b = p.read.blocks[t * p.read.width + i];
      for (std::int64_t j = b * p.read.block_rows; j < (b + 1) * p.read.block_rows; ++j) admit(j);
    }
  }
  p.out.count[t] = take_best(rank, count, p.out.width, p.out.rows + t * p.out.width);
}

void finish(const Select& p, std::int64_t t, const float* score, std::uint64_t* rank) {
  const std::int64_t rows = visible(p, t);
  if (p.score_tap.data != nullptr) {
    Bf16* tap = p.score_tap.row(t);
    for (std::int64_t j = 0; j < p.score_tap.cols; ++j) {
      tap[j] = to_bf16(j < rows ? score[j] : -std::numeric_limits<float>::infinity());
    }
  }
  if (p.write.blocks != nullptr) list_blocks(p, t, score, rows, rank);
  list_rows(p, t, score, rows, rank);
}

}  // namespace

std::size_t select_work(const Select& p) {
  Carve carve;
  scratch(p, carve);
  return carve.bytes();
}

void select(Queue& queue, const Select& p) {
  Carve carve(p.work);
  const Scratch s = scratch(p, carve);
  Workers& workers = workers_of(queue);
  for (std::int32_t r = 0; r < *p.batch.run_count; ++r) {
    const Run& run = p.batch.runs[r];
    for (std::int64_t first = run.row; first < run.row + run.rows; first += kQueries) {
      const std::int64_t queries = std::min<std::int64_t>(kQueries, run.row + run.rows - first);
      const std::int64_t rows = visible(p, first + queries - 1);
      CHECK(rows <= p.most_rows, "most_rows bounds the rows of every slot");
      workers.for_each(queries, [&](std::int64_t i, int) { prepare(p, first + i, i, s); });
      workers.for_each((rows + kSourcePageRows - 1) / kSourcePageRows, [&](std::int64_t page, int) {
        const std::int64_t begin = page * kSourcePageRows;
        score_rows(p, first, queries, begin, std::min(rows, begin + kSourcePageRows), s);
      });
      workers.for_each(queries, [&](std::int64_t i, int) {
        finish(p, first + i, s.score + i * p.most_rows, s.rank + i * p.most_rows);
      });
    }
  }
}

}  // namespace manyspan::kernels::reference
