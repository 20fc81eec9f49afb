// Every encoding's scales are read where they lie by experts of every table, in each place that a matrix has; a
// transposed or row-wise reading would be found.
#include "kernels/trial_experts.h"
#include "kernels/trial_quadrants.h"

namespace manyspan::kernels {
namespace {

// Rows and columns in the multiples that experts want, three cells or more.
std::int32_t whole(std::int32_t n) { return (n + 63) / 64 * 64; }
std::int32_t rows_of_cells(Encoding e) {
  return scale_cell(e).rows == 1 ? 64 : whole(3 * scale_cell(e).rows + 1);
}
std::int32_t cols_of_cells(Encoding e) { return whole(Quadrants::three_across(e)); }

// The matrix as numbers, as `reading` makes them.
Matrix read_so(const Quadrants& q, Reading reading) {
  Matrix m;
  m.w.rows = q.rows, m.w.cols = q.cols, m.w.encoding = Encoding::f32;
  m.w.next_codes = code_bytes(m.w);
  m.codes.resize(static_cast<std::size_t>(m.w.next_codes));
  std::byte* to = m.codes.data();
  for (std::int32_t n = 0; n < q.rows; ++n) {
    for (std::int32_t k = 0; k < q.cols; ++k, to += sizeof(float)) {
      const float x = q.expected(reading, n, k);
      std::memcpy(to, &x, sizeof x);
    }
  }
  m.point();
  return m;
}

std::int64_t differing(const std::vector<Bf16>& a, const std::vector<Bf16>& b, std::int64_t count) {
  std::int64_t off = 0;
  for (std::int64_t i = 0; i < count; ++i) off += a[i].bits == b[i].bits ? 0 : 1;
  return off;
}

// A call with F32 everywhere, but for the matrix `at`: that of the quadrants, in its encoding or as numbers.
void expect_read_rightly(const Quadrants& q, Matrix ExpertsCase::*at, const ExpertsShape& shape, bool apart) {
  const Encoding other = apart ? Encoding::bf16 : Encoding::f32;
  Chance chance(4);
  ExpertsCase c(chance, 3, shape, {Encoding::f32, other, Encoding::f32, Encoding::f32});
  c.limit = 0;
  const auto with = [&](const Table& table, const Matrix& m) {
    c.*at = m, (c.*at).point();
    return c.run(table, c.batch.view());
  };
  c.*at = q.matrix, (c.*at).point();
  c.fit_x8(chance);
  const std::int64_t numbers = c.batch.used() * shape.width;
  const Matrix right = read_so(q, Reading::right);
  const auto reads_rightly = [&](const Table& table) {
    EXPECT_EQ(differing(with(table, q.matrix), with(table, right), numbers), 0);
  };
  reads_rightly(kReference);
  each_table(reads_rightly);
  // What is right for all is told from what is wrong by one.
  const Table& one = *host_tables().back();
  const std::vector<Bf16> y = with(one, right);
  for (const Reading wrong : kWrongReadings) {
    if (!q.possible(wrong)) continue;
    EXPECT_GT(differing(y, with(one, read_so(q, wrong)), numbers), numbers / 2) << name(wrong);
  }
}

TEST(ExpertsQuadrantsSlow, GatesAndUpsInOneMatrixAreReadByTheirOwnScales) {
  for (const Encoding e : every_scaled_encoding()) {
    SCOPED_TRACE(std::string(name(e)));
    const std::int32_t inner = rows_of_cells(e), width = cols_of_cells(e);
    expect_read_rightly({e, 2 * inner, width}, &ExpertsCase::gate_up, {1, 1, 1, width, inner}, false);
  }
}

TEST(ExpertsQuadrantsSlow, GatesAndUpsApartAreReadByTheirOwnScales) {
  for (const Encoding e : every_scaled_encoding()) {
    SCOPED_TRACE(std::string(name(e)));
    const std::int32_t inner = rows_of_cells(e), width = cols_of_cells(e);
    for (Matrix ExpertsCase::*at : {&ExpertsCase::gate_up, &ExpertsCase::up})
      expect_read_rightly({e, inner, width}, at, {1, 1, 1, width, inner}, true);
  }
}

TEST(ExpertsQuadrantsSlow, TheWayDownIsReadByItsOwnScales) {
  for (const Encoding e : every_scaled_encoding()) {
    SCOPED_TRACE(std::string(name(e)));
    const std::int32_t width = rows_of_cells(e), inner = cols_of_cells(e);
    expect_read_rightly({e, width, inner}, &ExpertsCase::down, {1, 1, 1, width, inner}, false);
  }
}

}  // namespace
}  // namespace manyspan::kernels
