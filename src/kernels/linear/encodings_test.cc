// Products of every encoding, by every table, against the reference and against themselves.
#include "kernels/agreement.h"

namespace manyspan::kernels {
namespace {

std::vector<float> product(const Table& table, const Weight& w, const std::vector<Bf16>& x,
                           std::int64_t first, std::int64_t rows) {
  std::vector<float> y(static_cast<std::size_t>(rows * w.rows), -77.0f);
  Linear p = {};
  p.count = 1;
  p.parts[0].x = {x.data() + first * w.cols, rows, w.cols, w.cols};
  p.parts[0].w = w;
  p.parts[0].y.f32 = rows_of(y, w.rows);
  static Trial trial(1);  // one for all: there are many small products
  trial.run(table.linear, p);
  return y;
}

// y, of a matrix that is decoded as `plain` says, lies where the true sum may be.
void expect_near(const Weight& plain, const std::vector<Bf16>& x, const std::vector<float>& y,
                 const std::vector<float>& right, std::int64_t rows) {
  std::vector<float> w(plain.cols);
  for (std::int32_t n = 0; n < plain.rows; ++n) {
    values(plain, n, 0, plain.cols, w.data());
    for (std::int64_t t = 0; t < rows; ++t) {
      double size = 0;
      for (std::int64_t k = 0; k < plain.cols; ++k) {
        const double term = static_cast<double>(w[k]) * to_float(x[t * plain.cols + k]);
        size += term * term;
      }
      const std::size_t at = t * plain.rows + n;
      ASSERT_LE(std::fabs(y[at] - right[at]), kLinearTolerance * std::sqrt(size))
          << "row " << t << ", output " << n << ": " << y[at] << " for " << right[at];
    }
  }
}

void expect_agreement(Encoding e, std::int32_t rows, std::int32_t cols,
                      const std::vector<std::int64_t>& batches) {
  SCOPED_TRACE(std::string(name(e)) + " " + std::to_string(rows) + "x" + std::to_string(cols));
  Chance chance(rows * 7 + cols);
  const Matrix plain = plain_matrix(chance, e, rows, cols);
  const std::int64_t most = *std::max_element(batches.begin(), batches.end());
  const std::vector<Bf16> x = chance.bf16(most * cols);
  const std::vector<float> right = product(kReference, plain.w, x, 0, most);
  each_table([&](const Table& table) {
    const Matrix m = arranged_for(table, plain);
    for (const std::int64_t t : batches) {
      SCOPED_TRACE(std::to_string(t) + " rows");
      expect_near(plain.w, x, product(table, m.w, x, 0, t), right, t);
    }
  });
}

TEST(Encodings, EveryOneAgreesWithTheReferenceAtEveryCountOfRows) {
  std::vector<std::int64_t> counts;
  for (std::int64_t t = 1; t <= 17; ++t) counts.push_back(t);
  for (const Encoding e : every_encoding()) expect_agreement(e, 39, 512, counts);
}

TEST(Encodings, EveryOneAgreesWithTheReferenceAtRealWidths) {
  for (const Encoding e : every_encoding()) {
    for (const std::int32_t cols : {1280, 2304, 5120, 8192}) expect_agreement(e, 23, cols, {1, 2, 3});
  }
}

TEST(Encodings, EveryOneAgreesWithTheReferenceWherePartsCutThroughBlocks) {
  for (const Encoding e : every_encoding()) {
    for (const std::int32_t cols : {256, 1024 + 256, 4096 + 1280}) expect_agreement(e, 16, cols, {1, 5});
  }
}

TEST(Encodings, RowsTogetherAreAsRowsAlone) {
  for (const Encoding e : every_encoding()) {
    for (const std::int32_t cols : {256, 1280}) {
      Chance chance(11);
      const Matrix plain = plain_matrix(chance, e, 48, cols);
      const std::vector<Bf16> x = chance.bf16(130 * cols);
      each_table([&](const Table& table) {
        const Matrix m = arranged_for(table, plain);
        const std::vector<float> together = product(table, m.w, x, 0, 130);
        for (const std::int64_t size : {1, 2, 3, 17}) {
          for (std::int64_t first = 0; first + size <= 130; first += size * 9 + 1) {
            const std::vector<float> y = product(table, m.w, x, first, size);
            ASSERT_EQ(std::memcmp(y.data(), together.data() + first * 48, y.size() * sizeof(float)), 0)
                << name(e) << " " << size << " at " << first;
          }
        }
      });
    }
  }
}

// Rows of x that have a one at a single column take single weights out of a matrix.
void expect_exact(const Matrix& plain) {
  const std::int32_t cols = plain.w.cols;
  std::vector<Bf16> x(static_cast<std::size_t>(cols) * cols, Bf16{0});
  for (std::int32_t k = 0; k < cols; ++k) x[k * cols + k] = to_bf16(1.0f);
  each_table([&](const Table& table) {
    const Matrix m = arranged_for(table, plain);
    const std::vector<float> y = product(table, m.w, x, 0, cols);
    for (std::int32_t k = 0; k < cols; k += 3) {  // alone: by the way of few rows
      const std::vector<float> alone = product(table, m.w, x, k, 1);
      for (std::int32_t n = 0; n < plain.w.rows; ++n) ASSERT_EQ(alone[n], y[k * plain.w.rows + n]);
    }
    for (std::int32_t n = 0; n < plain.w.rows; ++n) {
      for (std::int32_t k = 0; k < cols; ++k) {
        ASSERT_EQ(y[k * plain.w.rows + n], value(plain.w, n, k)) << n << ", " << k;
      }
    }
  });
}

TEST(Encodings, EveryCodeOfABlockIsDecodedExactlyAtEveryScale) {
  for (const Encoding e : every_encoding()) {
    if (!is_blocks(e)) continue;
    SCOPED_TRACE(std::string(name(e)));
    for (const int half : {-14, -9, 0, 12}) {
      Chance chance(half + 20);
      Matrix plain = plain_matrix(chance, e, 32, 256);
      for (std::size_t i = 0; i < plain.codes.size(); i += block_bytes(e)) {
        set_block_scales(chance, e, plain.codes.data() + i, half, half == 12 ? 229 : half == -14 ? 0 : 120);
      }
      expect_exact(plain);
    }
  }
}

// The least and the largest F16, of both signs, in every row and beside one another.
TEST(Encodings, ExtremeHalvesAreDecodedExactly) {
  constexpr std::uint16_t kHalves[] = {0x0000, 0x8000, 0x0001, 0x83ff, 0x0400, 0x7bff, 0xfbff, 0x3c01};
  for (const Encoding e : every_encoding()) {
    if (half_places(e).at[0] < 0 || !is_blocks(e)) continue;
    SCOPED_TRACE(std::string(name(e)));
    Chance chance(3);
    Matrix plain = plain_matrix(chance, e, 48, 256);
    int next = 0;
    for (std::size_t i = 0; i < plain.codes.size(); i += block_bytes(e)) {
      for (const int at : half_places(e).at) {
        if (at >= 0) std::memcpy(plain.codes.data() + i + at, &kHalves[next++ * 5 % 8], 2);
      }
      ++next;
    }
    expect_exact(plain);
  }
}

TEST(Encodings, EveryHalfIsDecodedExactly) {
  Matrix plain;
  plain.w.rows = 64, plain.w.cols = 512, plain.w.encoding = Encoding::f16;
  for (const int first : {0, 0x8000}) {
    plain.codes.resize(64 * 512 * 2);
    for (int i = 0; i < 64 * 512; ++i) {
      const auto code = static_cast<std::uint16_t>((i & 0x7c00) == 0x7c00 ? first : first + i);
      std::memcpy(plain.codes.data() + 2 * i, &code, 2);
    }
    plain.point();
    expect_exact(plain);
  }
}

TEST(Encodings, F32ScalesOfAnySizeAreDecodedExactly) {
  Chance chance(3);
  Matrix plain = plain_matrix(chance, Encoding::fp8_block128_f32, 256, 256);
  const float scales[] = {0x1.234568p-140f, 0x1.fffffep100f, -0.3f, 0x1.77777p9f};
  std::memcpy(plain.scales.data(), scales, sizeof scales);
  expect_exact(plain);
}

}  // namespace
}  // namespace manyspan::kernels
