#include "kernels/cpu_ops.h"
#include "kernels/linear/linear.h"
#include "kernels/simd_product.h"
#include "kernels/simd_work.h"

namespace manyspan::kernels::MANYSPAN_ISA {
namespace {

// Rows of x as f32; parts that read the same x share them.
struct Inputs {
  float* row[Linear::kMaxParts];
  bool own[Linear::kMaxParts];  // this part lays them out
  std::size_t bytes;
};

MANYSPAN_INLINE bool same_x(const Rows<const Bf16>& a, const Rows<const Bf16>& b) {
  return a.data != nullptr && a.data == b.data && a.cols == b.cols && a.stride == b.stride;
}

Inputs inputs(const Linear& p, std::int64_t chunk) {
  Cutter cut(p.work);
  Inputs in;
  for (std::int32_t i = 0; i < p.count; ++i) {
    std::int32_t from = i;
    if (i > 0 && (p.norm != nullptr || p.grid_in)) from = 0;
    for (std::int32_t j = 0; j < i && from == i; ++j) from = same_x(p.parts[i].x, p.parts[j].x) ? j : i;
    in.own[i] = from == i;
    in.row[i] = in.own[i] ? cut.array<float>(chunk * row_step(p.parts[i].w.cols)) : in.row[from];
  }
  in.bytes = cut.bytes();
  return in;
}

void prepare(Workers& workers, const Linear& p, const Inputs& in, std::int64_t first, std::int64_t rows) {
  for (std::int32_t i = 0; i < p.count; ++i) {
    if (!in.own[i]) continue;
    const std::int64_t cols = p.parts[i].w.cols;
    share(workers, rows, cols / (p.norm != nullptr || p.grid_in ? 2 : 8), [&](std::int64_t r) {
      float* row = in.row[i] + r * row_step(cols);
      widen(p.parts[i].x.row(first + r), cols, row);
      if (p.norm != nullptr) norm(row, p.norm, p.eps, cols);
      if (p.grid_in) grid8(row, cols);
    });
  }
}

// Outputs [32·unit, 32·unit + 32) of one part for rows of a chunk.
void multiply(const Linear& p, const Linear::Part& part, const float* x, std::int64_t unit,
              std::int64_t first, std::int64_t begin, std::int64_t rows) {
  alignas(64) float sums[kTilesAtOnce * kMostRows * kLanes];
  const float* at[kMostRows] = {};
  for (std::int64_t r = 0; r < rows; ++r) at[r] = x + (begin + r) * row_step(part.w.cols);
  const std::int64_t column = unit * kTilesAtOnce * kTileRows, left = part.w.rows - column;
  const int tiles = left > kTileRows ? 2 : 1;
  tile_products(part.w, unit * kTilesAtOnce, tiles, at, rows, sums);
  const std::int64_t n = part.w.rows;
  for (std::int64_t r = 0; r < rows; ++r) {
    F a = load(sums + r * kLanes);
    F b = tiles == 2 ? load(sums + (rows + r) * kLanes) : zero();
    if (part.y.f32.data != nullptr) {
      float* y = part.y.f32.row(first + begin + r);
      store_at(a, y, column, n);
      if (tiles == 2) store_at(b, y, column + kLanes, n);
      continue;
    }
    if (p.grid_out) {
      a = round_bf16(a), b = round_bf16(b);
      grid8(a, b);
    }
    Bf16* y = part.y.bf16.row(first + begin + r);
    store_at(a, y, column, n);
    if (tiles == 2) store_at(b, y, column + kLanes, n);
  }
}

MANYSPAN_INLINE std::int64_t units_of(const Weight& w) {
  return (tiles_down(w) + kTilesAtOnce - 1) / kTilesAtOnce;
}

}  // namespace

std::size_t linear_work(const Linear& p) {
  Linear count_only = p;
  count_only.work = {};
  const std::int64_t rows = p.parts[0].x.rows;
  return inputs(count_only, rows < kChunkRows ? rows : kChunkRows).bytes;
}

const char* linear_refuses(const Linear& p) {
  if (p.count < 1 || p.count > Linear::kMaxParts) return "between one and eight products in a call";
  for (std::int32_t i = 0; i < p.count; ++i) {
    if (p.parts[i].w.tiling != Tiling::cpu16x32) return "matrices are in tiles of 16 x 32";
    if (p.parts[i].w.order != RowOrder::natural) return "rows are in their natural order";
    if (p.grid_out && p.parts[i].w.rows % 32 != 0) return "an output on the FP8 grid has whole groups of 32";
    if (p.grid_in && p.parts[i].w.cols % 32 != 0) return "an input on the FP8 grid has whole groups of 32";
  }
  return nullptr;
}

void linear(Queue& queue, const Linear& p) {
  Workers& workers = workers_of(queue);
  const std::int64_t used = rows_used(p.parts[0].x.rows, p.used);
  const std::int64_t chunk = used < kChunkRows ? used : kChunkRows;
  const Inputs in = inputs(p, chunk);
  std::int64_t columns = 0, deepest = 0;
  for (std::int32_t i = 0; i < p.count; ++i) {
    columns += units_of(p.parts[i].w);
    deepest = p.parts[i].w.cols > deepest ? p.parts[i].w.cols : deepest;
  }
  for (std::int64_t first = 0; first < used; first += chunk) {
    const std::int64_t rows = used - first < chunk ? used - first : chunk;
    prepare(workers, p, in, first, rows);
    const std::int64_t deep = unit_rows(rows, columns, workers), down = (rows + deep - 1) / deep;
    const std::int64_t cycles = product_cycles(deepest, rows < deep ? rows : deep);
    const std::int64_t wide = columns_together(rows, columns, workers);
    share(workers, (columns + wide - 1) / wide * down, cycles * wide, [&](std::int64_t item) {
      const std::int64_t begin = item % down * deep, left = rows - begin;
      std::int64_t unit = item / down * wide, end = unit + wide < columns ? unit + wide : columns;
      for (std::int32_t i = 0; unit < end; ++i) {
        const std::int64_t units = units_of(p.parts[i].w);
        for (; unit < units && unit < end; ++unit) {
          multiply(p, p.parts[i], in.row[i], unit, first, begin, left < deep ? left : deep);
        }
        unit -= units, end -= units;
      }
    });
  }
}

}  // namespace manyspan::kernels::MANYSPAN_ISA
