// Rows of every encoding that a table can have: each table reads what is stored, by the rows' own scales.
#include "kernels/agreement.h"
#include "kernels/trial_quadrants.h"

namespace manyspan::kernels {
namespace {

// Those whose scales no rows share.
std::vector<Encoding> row_encodings() {
  std::vector<Encoding> all;
  for (const Encoding e : every_encoding()) {
    if (scale_cell(e).rows <= 1) all.push_back(e);
  }
  return all;
}

struct Read {
  std::vector<Bf16> y, tap;
};

// `columns` rows of the matrix for each token of the batch.
Read read_by(const Table& table, const TrialBatch& batch, const Weight& w,
             const std::vector<std::uint8_t>& packed, std::int32_t columns) {
  const std::int64_t n = std::int64_t{columns} * w.cols;
  Read read;
  read.y.assign(static_cast<std::size_t>(batch.rows() * n), kPoison16);
  read.tap = read.y;
  EngramRows p = {};
  p.packed = rows_of(packed, columns * lone_row_bytes(w.encoding, w.cols)), p.batch = batch.view();
  p.columns = columns, p.dim = w.cols, p.encoding = w.encoding;
  p.y = rows_of(read.y, n), p.embed_tap = rows_of(read.tap, n);
  Trial(1).run(table.engram_rows, p);
  return read;
}

TEST(EngramEncodings, EveryTableReadsEveryOneExactly) {
  constexpr std::int32_t kColumns = 5;
  const TrialBatch batch({{0, {3}, 0, 4}, {1, {0}, 0, 1}});
  for (const Encoding e : row_encodings()) {
    for (const std::int32_t dim : {256, 512, whole_cols(e) > 96 ? 768 : 192}) {
      SCOPED_TRACE(std::string(name(e)) + " of " + std::to_string(dim));
      Chance chance(dim + static_cast<int>(e));
      const Matrix m = plain_matrix(chance, e, static_cast<std::int32_t>(batch.rows()) * kColumns, dim);
      const std::vector<std::uint8_t> packed = lone_rows(m.w);
      const Read right = read_by(kReference, batch, m.w, packed, kColumns);
      std::vector<float> x(dim);
      for (std::int32_t n = 0; n < m.w.rows; ++n) {
        const bool used = n < batch.used() * kColumns;
        values(m.w, n, 0, dim, x.data());
        for (std::int32_t k = 0; k < dim; ++k) {
          const Bf16 read = right.tap[static_cast<std::size_t>(n) * dim + k];
          ASSERT_EQ(read.bits, used ? to_bf16(x[k]).bits : kPoison16.bits) << "row " << n << ", column " << k;
        }
      }
      each_table([&](const Table& table) {
        const Read read = read_by(table, batch, m.w, packed, kColumns);
        EXPECT_TRUE(same_bits(read.y, right.y));
        EXPECT_TRUE(same_bits(read.tap, right.tap));
      });
    }
  }
}

TEST(EngramEncodings, EveryTableReadsEveryOneByItsOwnScales) {
  constexpr std::int32_t kColumns = 3;
  const TrialBatch batch({{0, {0}, 0, 6}});
  const auto rows = static_cast<std::int32_t>(batch.rows()) * kColumns;
  for (const Encoding e : row_encodings()) {
    if (scale_cell(e).rows == 0) continue;
    SCOPED_TRACE(std::string(name(e)));
    const Quadrants q(e, rows, (Quadrants::three_across(e) + 63) / 64 * 64);
    const std::vector<std::uint8_t> packed = lone_rows(q.matrix.w);
    const std::int64_t numbers = batch.used() * kColumns * q.cols;
    const auto differing = [&](const Read& read, Reading reading) {
      std::int64_t count = 0;
      for (std::int64_t i = 0; i < numbers; ++i) {
        const float x =
            q.expected(reading, static_cast<std::int32_t>(i / q.cols), static_cast<std::int32_t>(i % q.cols));
        count += read.tap[i].bits == to_bf16(x).bits ? 0 : 1;
      }
      return count;
    };
    each_table([&](const Table& table) {
      const Read read = read_by(table, batch, q.matrix.w, packed, kColumns);
      EXPECT_EQ(differing(read, Reading::right), 0);
      for (const Reading wrong : kWrongReadings) {
        if (!q.possible(wrong)) continue;
        EXPECT_GT(differing(read, wrong), numbers / 3) << name(wrong);
      }
    });
  }
}

}  // namespace
}  // namespace manyspan::kernels
