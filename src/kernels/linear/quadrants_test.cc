// Every encoding's scales are read where they lie, by every table, and a transposed or row-wise reading would be found.
#include "kernels/agreement.h"
#include "kernels/trial_quadrants.h"

namespace manyspan::kernels {
namespace {

// The matrix as a table's products read it: [rows, cols].
std::vector<float> read_by(const Table& table, const Quadrants& q) {
  const Matrix m = arranged_for(table, q.matrix);
  std::vector<Bf16> ones(static_cast<std::size_t>(q.cols) * q.cols, Bf16{0});
  for (std::int32_t k = 0; k < q.cols; ++k) ones[k * q.cols + k] = to_bf16(1.0f);
  std::vector<float> y(static_cast<std::size_t>(q.cols) * q.rows);
  Linear p = {};
  p.count = 1;
  p.parts[0].x = {ones.data(), q.cols, q.cols, q.cols};
  p.parts[0].w = m.w;
  p.parts[0].y.f32 = rows_of(y, q.rows);
  static Trial trial(1);
  trial.run(table.linear, p);
  std::vector<float> read(y.size());
  for (std::int32_t k = 0; k < q.cols; ++k) {
    for (std::int32_t n = 0; n < q.rows; ++n) read[n * q.cols + k] = y[k * q.rows + n];
  }
  return read;
}

// How many numbers are not what `reading` makes of them.
std::int64_t differing(const Quadrants& q, Reading reading, const std::vector<float>& read) {
  std::int64_t count = 0;
  for (std::int32_t n = 0; n < q.rows; ++n) {
    for (std::int32_t k = 0; k < q.cols; ++k)
      count += read[n * q.cols + k] == q.expected(reading, n, k) ? 0 : 1;
  }
  return count;
}

// At least a third of all numbers shows a mistake; some codes are zeros, some scales are alike.
void expect_read_rightly(const Quadrants& q, const std::vector<float>& read) {
  EXPECT_EQ(differing(q, Reading::right, read), 0);
  for (const Reading wrong : kWrongReadings) {
    if (!q.possible(wrong)) continue;
    EXPECT_GT(differing(q, wrong, read), static_cast<std::int64_t>(read.size()) / 3) << name(wrong);
  }
}

TEST(Quadrants, EveryEncodingIsDecodedByItsOwnScales) {
  for (const Encoding e : every_scaled_encoding()) {
    SCOPED_TRACE(std::string(name(e)));
    const Quadrants q(e);
    std::vector<float> read(static_cast<std::size_t>(q.rows) * q.cols);
    for (std::int32_t n = 0; n < q.rows; ++n) values(q.matrix.w, n, 0, q.cols, read.data() + n * q.cols);
    expect_read_rightly(q, read);
  }
}

TEST(Quadrants, EveryTableMultipliesEveryEncodingByItsOwnScales) {
  for (const Encoding e : every_scaled_encoding()) {
    SCOPED_TRACE(std::string(name(e)));
    const Quadrants q(e);
    each_table([&](const Table& table) { expect_read_rightly(q, read_by(table, q)); });
  }
}

TEST(Quadrants, EveryEncodingButPlainNumbersHasScales) {
  EXPECT_EQ(every_scaled_encoding().size(), static_cast<std::size_t>(kEncodings) - 3);
}

}  // namespace
}  // namespace manyspan::kernels
