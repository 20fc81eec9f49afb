#include "kernels/cpu_ops.h"
#include "kernels/select/select.h"
#include "kernels/simd_best.h"
#include "kernels/simd_rope.h"
#include "kernels/simd_score.h"
#include "kernels/simd_team.h"
#include "kernels/simd_work.h"

namespace manyspan::kernels::MANYSPAN_ISA {
namespace {

constexpr std::int64_t kQueries = 32;     // a tile: what the scratch is sized by
constexpr std::int64_t kTogether = 8;     // queries of one session that share decoded keys
constexpr std::int64_t kPieceRows = 512;  // rows of one unit of scoring

struct Scratch {
  float* query;          // [kQueries][heads] rows of key_dim
  float* weight;         // [kQueries][heads]
  std::uint16_t* key;    // [kQueries][most_rows]
  std::uint16_t* block;  // [kQueries][blocks of write]
  std::int64_t step;     // from one query's keys to the next's
  std::int64_t blocks;
};

Scratch scratch(const Select& p, Cutter& cut) {
  Scratch s;
  s.step = (p.most_rows + kLanes) / kLanes * kLanes;
  s.blocks = p.write.block_rows > 0 ? (p.most_rows + p.write.block_rows - 1) / p.write.block_rows : 0;
  s.query = cut.array<float>(kQueries * p.heads * p.source.key_dim);
  s.weight = cut.array<float>(kQueries * p.heads);
  s.key = cut.array<std::uint16_t>(kQueries * s.step);
  s.block = cut.array<std::uint16_t>(kQueries * s.blocks);
  return s;
}

MANYSPAN_INLINE std::int64_t visible(const Select& p, std::int64_t t) {
  return (p.batch.position[t].value + 1) / p.source.ratio;
}
MANYSPAN_INLINE std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

// The rows that one query may take: all visible ones, or those of the blocks that it reads.
struct Field {
  const std::int32_t* blocks;  // null: all
  std::int64_t size, rows;

  MANYSPAN_INLINE std::int32_t row(std::int64_t i) const {
    return static_cast<std::int32_t>(blocks == nullptr ? i : blocks[i / size] * size + i % size);
  }
};

MANYSPAN_INLINE Field field_of(const Select& p, std::int64_t t) {
  const std::int64_t n = visible(p, t);
  if (p.read.blocks == nullptr) return {nullptr, 1, n};
  const std::int32_t* blocks = p.read.blocks + t * p.read.width;
  const std::int64_t size = p.read.block_rows, count = p.read.count[t];
  if (count == 0) return {blocks, size, 0};
  const std::int64_t last = n - blocks[count - 1] * size;  // visible rows of the last block; others are whole
  return {blocks, size, (count - 1) * size + (last < 0 ? 0 : smaller(last, size))};
}

// Whether scores of all visible rows are wanted, and whether those of the query's field are besides.
MANYSPAN_INLINE bool scores_all(const Select& p, std::int64_t t) {
  const std::int64_t n = visible(p, t);
  if (p.score_tap.data != nullptr) return true;
  if (p.write.blocks != nullptr && (n + p.write.block_rows - 1) / p.write.block_rows > p.write.width)
    return true;
  return p.read.blocks == nullptr && n > p.out.width;
}
MANYSPAN_INLINE bool scores_field(const Select& p, std::int64_t t) {
  return p.read.blocks != nullptr && field_of(p, t).rows > p.out.width;
}

// The query's heads, rotated and on the grid, and their weights.
void prepare(const Select& p, std::int64_t t, std::int64_t i, const Scratch& s) {
  const std::int64_t heads = p.heads, d = p.source.key_dim;
  float* query = s.query + i * heads * d;
  const Turning turning(p.rope, p.batch.position[t].value);
  for (std::int64_t h = 0; h < heads; ++h) {
    float* row = query + h * d;
    widen(p.q.row(t) + h * d, d, row);
    turning.turn(row + d - p.rope.dims);
    grid4_key(row, d);
    const Bf16 weight = to_bf16(to_float(p.head_weights.row(t)[h]) * p.head_scale);
    s.weight[i * heads + h] = to_float(weight);
    if (p.weight_tap.data != nullptr) p.weight_tap.row(t)[h] = weight;
  }
  if (p.query_tap.data != nullptr) narrow(query, heads * d, p.query_tap.row(t));
}

// Keys of field places [begin, end) for queries first + [i, i + queries) of one session, whose fields agree.
void score_piece(const Select& p, const Scratch& s, const Field& field, std::int64_t slot, std::int64_t i,
                 std::int64_t queries, std::int64_t begin, std::int64_t end) {
  alignas(64) float panel[kMostKeyDim * kLanes];
  const std::int64_t heads = p.heads, d = p.source.key_dim;
  const float* query[kScoreRows];
  for (std::int64_t h = 0; h < queries * heads; ++h) query[h] = s.query + (i * heads + h) * d;
  for (std::int64_t at = begin; at < end; at += kLanes) {
    const std::int64_t last = smaller(at + kLanes, end) - 1;  // lanes past it repeat it
    lay_keys(
        p.source, slot, [&](int lane) { return field.row(smaller(at + lane, last)); }, panel);
    std::uint16_t* to[kTogether];
    for (std::int64_t q = 0; q < queries; ++q) to[q] = s.key + (i + q) * s.step + at;
    score(panel, d, query, s.weight + i * heads, queries, heads, to);
  }
}

void tap_scores(const Select& p, std::int64_t t, const std::uint16_t* key) {
  const std::int64_t n = visible(p, t);
  Bf16* tap = p.score_tap.row(t);
  for (std::int64_t j = 0; j < p.score_tap.cols; ++j) tap[j] = j < n ? score_of(key[j]) : Bf16{0xff80};
}

void list_blocks(const Select& p, std::int64_t t, const std::uint16_t* key, std::uint16_t* block) {
  const std::int64_t n = visible(p, t), size = p.write.block_rows, blocks = (n + size - 1) / size;
  if (blocks > p.write.width) {
    for (std::int64_t b = 0; b < blocks; ++b) {
      std::uint16_t best = 0;
      for (std::int64_t j = b * size; j < smaller(n, (b + 1) * size); ++j)
        best = key[j] > best ? key[j] : best;
      block[b] = best;
    }
    block[blocks - 1] = 0xffff;  // the newest always stays
  }
  p.write.count[t] = list_best(block, blocks, p.write.width, p.write.blocks + t * p.write.width,
                               [](std::int64_t b) { return static_cast<std::int32_t>(b); });
}

void list_rows(const Select& p, std::int64_t t, const std::uint16_t* key) {
  const Field field = field_of(p, t);
  p.out.count[t] = list_best(key, field.rows, p.out.width, p.out.rows + t * p.out.width,
                             [&](std::int64_t i) { return field.row(i); });
}

// Which rows of the tile go together: of one run, side by side, and few enough.
struct Group {
  std::int64_t first, queries;
};
MANYSPAN_INLINE std::int64_t group_rows(const Select& p, std::int64_t first, std::int64_t end,
                                        Group* groups) {
  const std::int64_t most = smaller(kTogether, kScoreRows / p.heads);
  std::int64_t count = 0;
  for (std::int64_t t = first; t < end; ++t) {
    Group* last = count > 0 ? groups + count - 1 : nullptr;
    if (last != nullptr && last->queries < most && p.batch.slot[t] == p.batch.slot[last->first]) {
      ++last->queries;
    } else {
      groups[count++] = {t, 1};
    }
  }
  return count;
}

// Scores for all visible rows: the newest query of a group sees most; older ones get a few keys they ignore.
void score_all(Workers& workers, const Select& p, const Scratch& s, std::int64_t first, std::int64_t end) {
  Group groups[kQueries];
  const std::int64_t count = group_rows(p, first, end, groups);
  std::int64_t rows = 0;
  for (std::int64_t t = first; t < end; ++t) {
    if (scores_all(p, t) && visible(p, t) > rows) rows = visible(p, t);
  }
  const std::int64_t pieces = (rows + kPieceRows - 1) / kPieceRows;
  const std::int64_t cycles = smaller(rows, kPieceRows) * p.source.key_dim * p.heads / 8;
  share(workers, count * pieces, cycles, [&](std::int64_t item) {
    const Group& g = groups[item / pieces];
    const std::int64_t newest = g.first + g.queries - 1, n = visible(p, newest);
    const std::int64_t begin = item % pieces * kPieceRows;
    if (!scores_all(p, newest) || begin >= n) return;
    score_piece(p, s, {nullptr, 1, n}, p.batch.slot[g.first], g.first - first, g.queries, begin,
                smaller(n, begin + kPieceRows));
  });
}

}  // namespace

std::size_t select_work(const Select& p) {
  Cutter cut({});
  scratch(p, cut);
  return cut.bytes();
}

const char* select_refuses(const Select& p) {
  if (p.heads < 1 || p.heads > kScoreRows) return "between 1 and 256 index heads";
  if (p.source.key_dim % 32 != 0 || p.source.key_dim > kMostKeyDim) {
    return "index keys are a multiple of 32 columns wide, at most 256";
  }
  if (p.rope.dims > kMostRopeDims || p.rope.dims > p.source.key_dim) return "at most 256 rotated columns";
  return nullptr;
}

void select(Queue& queue, const Select& p) {
  Workers& workers = workers_of(queue);
  Cutter cut(p.work);
  const Scratch s = scratch(p, cut);
  const std::int64_t used = rows_used(p.batch.rows, p.batch.used);
  const bool taps = p.query_tap.data != nullptr || p.weight_tap.data != nullptr;
  for (std::int64_t first = 0; first < used; first += kQueries) {
    const std::int64_t end = smaller(used, first + kQueries), rows = end - first;
    bool all_wanted = false, field_wanted = false;
    for (std::int64_t t = first; t < end; ++t) {
      all_wanted = all_wanted || scores_all(p, t);
      field_wanted = field_wanted || scores_field(p, t);
    }
    if (taps || all_wanted || field_wanted) {
      share(workers, rows, 1000 + p.heads * p.source.key_dim,
            [&](std::int64_t i) { prepare(p, first + i, i, s); });
    }
    if (all_wanted) score_all(workers, p, s, first, end);
    const std::int64_t cycles = all_wanted || field_wanted ? 4000 : p.out.width / 4;
    share(workers, rows, cycles, [&](std::int64_t i) {
      const std::int64_t t = first + i;
      std::uint16_t* key = s.key + i * s.step;
      if (p.score_tap.data != nullptr) tap_scores(p, t, key);
      if (p.write.blocks != nullptr) list_blocks(p, t, key, s.block + i * s.blocks);
      if (scores_field(p, t)) {
        const Field field = field_of(p, t);
        score_piece(p, s, field, p.batch.slot[t], i, 1, 0, field.rows);
      }
      list_rows(p, t, key);
    });
  }
}

}  // namespace manyspan::kernels::MANYSPAN_ISA
