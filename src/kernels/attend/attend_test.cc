#include "kernels/agreement.h"

namespace manyspan::kernels {
namespace {

struct Shape {
  std::int32_t heads, d, rope, window, width, ratio;
};

// Two sessions amid random pages; each query selects some of the rows it may see.
struct AttendCase {
  Shape shape;
  std::vector<Run> runs;
  TrialBatch batch;
  TrialWindow window;
  TrialSource source;
  std::vector<Bf16> q;
  std::vector<float> sink, frequency;
  std::vector<std::int32_t> rows, count;

  AttendCase(Chance& chance, const Shape& s, std::vector<Run> of)
      : shape(s),
        runs(of),
        batch(std::move(of)),
        window(3, (s.window + 64) / kWindowPageRows + 2, s.d),
        source(3, 20, s.ratio, s.d, 32),
        q(chance.bf16(batch.rows() * s.heads * s.d)),
        sink(chance.f32(s.heads, 0.5f, 1)),
        frequency(chance.f32(s.rope / 2, 0.3f, 0.1f)),
        rows(batch.rows() * s.width, -1),
        count(batch.rows(), 0) {
    for (std::byte& b : window.bytes) b = std::byte(chance.below(127) + 128 * chance.below(2));
    for (std::byte& b : source.bytes) b = std::byte(chance.word());
    for (const Run& run : runs) {
      for (std::int32_t p = 0; p < run.first.value + run.rows; ++p) {
        for (std::int32_t g = 0; g < s.d / 32; ++g)
          window.view.scales(run.slot, p)[g] = std::byte(117 + chance.below(4));
        for (std::int32_t g = 0; s.ratio > 0 && g < s.d / 16; ++g) {
          source.view.scales(run.slot, p / s.ratio)[g] = std::byte(0x20 + chance.below(24));
        }
      }
    }
    for (std::int64_t t = 0; s.ratio > 0 && t < batch.used(); ++t) {
      const std::int32_t seen = (batch.view().position[t].value + 1) / s.ratio;
      for (std::int32_t j = 0; j < seen && count[t] < s.width; ++j) {
        if (seen <= s.width || chance.below(3) == 0) rows[t * s.width + count[t]++] = j;
      }
    }
  }

  struct Out {
    std::vector<Bf16> o, core;
  };
  Out run(const Table& table, const BatchView& view, std::int64_t first = 0) {
    const std::int64_t cols = std::int64_t{shape.heads} * shape.d;
    Out out = {std::vector(view.rows * cols, kPoison16), std::vector(view.rows * cols, kPoison16)};
    Attend p = {};
    p.q = {q.data() + first * cols, view.rows, cols, cols};
    p.heads = shape.heads, p.window_rows = shape.window, p.scale = 1 / std::sqrt(static_cast<float>(shape.d));
    p.batch = view, p.window = window.view;
    if (shape.ratio > 0) p.source = source.view;
    p.selected = {rows.data() + first * shape.width, count.data() + first, shape.width};
    p.rope = {frequency.data(), shape.rope}, p.sink = sink.data();
    p.o = rows_of(out.o, cols), p.core_tap = rows_of(out.core, cols);
    Trial().run(table.attend, p);
    return out;
  }
};

constexpr Shape kToy = {3, 32, 16, 8, 6, 2}, kBundled = {8, 64, 16, 32, 32, 1},
                kWide = {20, 96, 32, 48, 24, 2};

void expect_agreement(const Shape& shape, std::vector<Run> runs) {
  Chance chance(shape.d + shape.heads);
  AttendCase c(chance, shape, std::move(runs));
  const AttendCase::Out right = c.run(kReference, c.batch.view());
  each_table([&](const Table& table) {
    const AttendCase::Out y = c.run(table, c.batch.view());
    const std::int64_t heads = c.batch.used() * shape.heads;
    for (std::int64_t h = 0; h < heads; ++h) {
      ASSERT_LE(relative_error(&y.o[h * shape.d], &right.o[h * shape.d], shape.d), kAttendTolerance) << h;
      ASSERT_LE(relative_error(&y.core[h * shape.d], &right.core[h * shape.d], shape.d), kAttendTolerance)
          << h;
    }
    for (std::size_t i = heads * shape.d; i < y.o.size(); ++i)
      ASSERT_TRUE(poisoned(y.o[i]) && poisoned(y.core[i]));
  });
}

TEST(Attend, EveryTableAgreesWithTheReferenceAtToyShapes) {
  for (const Shape& s : {kToy, kBundled, kWide, Shape{8, 64, 16, 32, 32, 0}}) {
    expect_agreement(s, {{1, {0}, 0, 5}, {2, {77}, 0, 9}, {0, {40}, 0, 1}});
  }
}

TEST(Attend, EveryTableAgreesWithTheReferenceAtRealWidths) {
  expect_agreement({64, 512, 64, 128, 512, 1}, {{1, {700}, 0, 1}, {2, {130}, 0, 2}});
}

TEST(Attend, RowsTogetherAreAsRowsAlone) {
  Chance chance(8);
  for (const Shape& s : {kBundled, kWide}) {
    AttendCase c(chance, s, {{1, {30}, 0, 40}});
    const std::int64_t cols = std::int64_t{s.heads} * s.d;
    each_table([&](const Table& table) {
      const AttendCase::Out all = c.run(table, c.batch.view());
      for (const auto& [first, rows] : {std::pair{0, 1}, {17, 1}, {2, 5}, {9, 31}, {39, 1}}) {
        TrialBatch part({{1, {30 + first}, 0, rows}});
        const AttendCase::Out y = c.run(table, part.view(), first);
        for (std::int64_t i = 0; i < rows * cols; ++i)
          ASSERT_EQ(y.o[i].bits, all.o[first * cols + i].bits) << first;
      }
    });
  }
}

}  // namespace
}  // namespace manyspan::kernels
