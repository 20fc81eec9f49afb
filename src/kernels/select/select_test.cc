#include "kernels/agreement.h"

namespace manyspan::kernels {
namespace {

struct Shape {
  std::int32_t heads, key_dim, ratio, width, blocks, block_rows;
};

struct SelectCase {
  Shape shape;
  std::vector<Run> runs;
  TrialBatch batch;
  TrialSource source;
  std::vector<Bf16> q, weights;
  std::vector<float> frequency;
  std::int32_t most;

  SelectCase(Chance& chance, const Shape& s, std::vector<Run> of, std::int32_t most_rows)
      : shape(s),
        runs(of),
        batch(std::move(of)),
        source(3, most_rows / kSourcePageRows + 2, s.ratio, 64, s.key_dim),
        q(chance.bf16(batch.rows() * s.heads * s.key_dim)),
        weights(chance.bf16(batch.rows() * s.heads, 0.3f, 1)),
        frequency(chance.f32(8, 0.3f, 0.1f)),
        most(most_rows) {
    for (std::byte& b : source.bytes) b = std::byte(chance.word());
    for (const Run& run : runs) {
      for (std::int32_t j = 0; j < most; ++j) {
        for (std::int32_t g = 0; g < s.key_dim / 32; ++g) {
          source.view.key_scales(run.slot, j)[g] = std::byte(124 + chance.below(5));
        }
      }
    }
  }

  struct Out {
    std::vector<std::int32_t> rows, count, blocks, block_count;
    std::vector<Bf16> query, weight, score;
  };
  enum class Candidate { none, write, read };
  // `read` takes the blocks of `before`.
  Out run(const Table& table, const BatchView& view, Candidate use, bool taps, const Out* before = nullptr,
          std::int64_t first = 0) {
    const std::int64_t n = view.rows, cols = shape.heads * shape.key_dim;
    Out out = {std::vector(n * shape.width, -7),  std::vector(n, -7),
               std::vector(n * shape.blocks, -7), std::vector(n, -7),
               std::vector(n * cols, kPoison16),  std::vector(n * shape.heads, kPoison16),
               std::vector(n * most, kPoison16)};
    Select p = {};
    p.q = {q.data() + first * cols, n, cols, cols};
    p.head_weights = {weights.data() + first * shape.heads, n, shape.heads, shape.heads};
    p.head_scale = 0.1f, p.heads = shape.heads, p.batch = view, p.source = source.view,
    p.rope = {frequency.data(), 16};
    p.out = {out.rows.data(), out.count.data(), shape.width}, p.most_rows = most;
    const Candidates mine = {out.blocks.data(), out.block_count.data(), shape.blocks, shape.block_rows};
    if (use == Candidate::write) p.write = mine;
    if (use == Candidate::read) {
      p.read = {const_cast<std::int32_t*>(before->blocks.data()) + first * shape.blocks,
                const_cast<std::int32_t*>(before->block_count.data()) + first, shape.blocks,
                shape.block_rows};
    }
    if (taps) {
      p.query_tap = rows_of(out.query, cols), p.weight_tap = rows_of(out.weight, shape.heads);
      p.score_tap = rows_of(out.score, most);
    }
    Trial().run(table.select, p);
    return out;
  }
};

using Candidate = SelectCase::Candidate;

// Everything that is chosen must be equal: dots of numbers on these grids are exact in f32, or nearly always
// round to the same bf16, and the same keys give the same choice.
void expect_agreement(const Shape& shape, const std::vector<Run>& runs, std::int32_t most) {
  Chance chance(shape.key_dim + most);
  SelectCase c(chance, shape, runs, most);
  const BatchView view = c.batch.view();
  const SelectCase::Out right = c.run(kReference, view, Candidate::write, true);
  const SelectCase::Out right_read = c.run(kReference, view, Candidate::read, false, &right);
  each_table([&](const Table& table) {
    const SelectCase::Out y = c.run(table, view, Candidate::write, true);
    EXPECT_TRUE(same_bits(y.query, right.query));
    EXPECT_TRUE(same_bits(y.weight, right.weight));
    for (std::size_t i = 0; i < y.score.size(); ++i) ASSERT_EQ(y.score[i].bits, right.score[i].bits) << i;
    EXPECT_EQ(y.rows, right.rows);
    EXPECT_EQ(y.count, right.count);
    EXPECT_EQ(y.blocks, right.blocks);
    EXPECT_EQ(y.block_count, right.block_count);
    const SelectCase::Out untapped = c.run(table, view, Candidate::none, false);
    EXPECT_EQ(untapped.rows, right.rows);
    const SelectCase::Out written = c.run(table, view, Candidate::write, false);
    EXPECT_EQ(written.blocks, right.blocks);
    EXPECT_EQ(written.rows, right.rows);
    for (const bool taps : {false, true}) {
      const SelectCase::Out read = c.run(table, view, Candidate::read, taps, &right);
      EXPECT_EQ(read.rows, right_read.rows);
      EXPECT_EQ(read.count, right_read.count);
    }
  });
}

TEST(Select, EveryTableAgreesWithTheReferenceAtToyShapes) {
  expect_agreement({4, 32, 1, 32, 16, 4}, {{1, {0}, 0, 5}, {2, {77}, 0, 70}, {0, {40}, 0, 1}}, 150);
  expect_agreement({3, 64, 2, 6, 3, 8}, {{1, {0}, 0, 40}, {2, {300}, 0, 3}, {0, {15}, 0, 2}}, 152);
}

TEST(Select, EveryTableAgreesWithTheReferenceAtRealWidths) {
  expect_agreement({32, 128, 1, 512, 100, 8}, {{1, {1200}, 0, 2}, {2, {2998}, 0, 1}}, 3000);
}

// All keys alike, so that every score ties.
TEST(Select, TiesGoToTheLowerRow) {
  Chance chance(5);
  SelectCase c(chance, {4, 32, 1, 10, 5, 4}, {{1, {99}, 0, 1}}, 100);
  for (std::int32_t j = 0; j < 100; ++j) {
    std::memset(c.source.view.key_codes(1, j), 0x22, 16);
    c.source.view.key_scales(1, j)[0] = std::byte{127};
  }
  each_table([&](const Table& table) {
    const SelectCase::Out y = c.run(table, c.batch.view(), Candidate::write, false);
    for (std::int32_t i = 0; i < 10; ++i) EXPECT_EQ(y.rows[i], i);
    for (std::int32_t i = 0; i < 4; ++i) EXPECT_EQ(y.blocks[i], i);
    EXPECT_EQ(y.blocks[4], 24);
  });
}

TEST(Select, RowsTogetherAreAsRowsAlone) {
  Chance chance(6);
  SelectCase c(chance, {4, 32, 1, 12, 16, 4}, {{1, {60}, 0, 90}}, 150);
  each_table([&](const Table& table) {
    const SelectCase::Out all = c.run(table, c.batch.view(), Candidate::write, false);
    for (const auto& [first, rows] : {std::pair{0, 1}, {17, 1}, {30, 5}, {20, 70}, {89, 1}}) {
      TrialBatch part({{1, {60 + first}, 0, rows}});
      const SelectCase::Out y = c.run(table, part.view(), Candidate::write, false, nullptr, first);
      for (std::int64_t i = 0; i < rows * 12; ++i) ASSERT_EQ(y.rows[i], all.rows[first * 12 + i]);
      for (std::int64_t i = 0; i < rows * 16; ++i) ASSERT_EQ(y.blocks[i], all.blocks[first * 16 + i]);
    }
  });
}

}  // namespace
}  // namespace manyspan::kernels
