#include "kernels/agreement.h"

namespace manyspan::kernels {
namespace {

struct Shape {
  Encoding encoding;
  std::int32_t rows, cols;
};

struct LinearCase {
  Matrix plain;
  std::int64_t used, capacity;
  std::vector<Bf16> x;
  std::int32_t used_word;

  LinearCase(Chance& chance, const Shape& shape, std::int64_t rows)
      : plain(plain_matrix(chance, shape.encoding, shape.rows, shape.cols)),
        used(rows),
        capacity(rows + 2),
        x(chance.bf16(capacity * shape.cols)),
        used_word(static_cast<std::int32_t>(rows)) {
    for (std::int64_t i = used * shape.cols; i < capacity * shape.cols; ++i) x[i] = kPoison16;
  }

  Linear params(const Weight& w) {
    Linear p = {};
    p.count = 1, p.used = &used_word;
    p.parts[0].x = rows_of(std::as_const(x), w.cols);
    p.parts[0].w = w;
    return p;
  }
  // What comes out is a little wider than the matrix is high, so that writing past the end shows.
  std::vector<float> f32_of(const Table& table, const Weight& w) {
    std::vector<float> y(static_cast<std::size_t>(capacity * (w.rows + 3)), -77.0f);
    Linear p = params(w);
    p.parts[0].y.f32 = {y.data(), capacity, w.rows, w.rows + 3};
    Trial().run(table.linear, p);
    return y;
  }
};

// The allowed distance of one output: linear.h's.
double allowed(const LinearCase& c, std::int64_t t, const std::vector<float>& row) {
  double sum = 0;
  for (std::int64_t k = 0; k < c.plain.w.cols; ++k) {
    const double term = static_cast<double>(row[k]) * to_float(c.x[t * c.plain.w.cols + k]);
    sum += term * term;
  }
  return kLinearTolerance * std::sqrt(sum);
}

void expect_agreement(const Shape& shape, std::int64_t rows) {
  SCOPED_TRACE(std::string(name(shape.encoding)) + " " + std::to_string(shape.rows) + "x" +
               std::to_string(shape.cols) + ", " + std::to_string(rows) + " rows");
  Chance chance(shape.rows * 7 + shape.cols + rows);
  LinearCase c(chance, shape, rows);
  const std::vector<float> right = c.f32_of(kReference, c.plain.w);
  each_table([&](const Table& table) {
    const Matrix m = arranged_for(table, c.plain);
    const std::vector<float> y = c.f32_of(table, m.w);
    std::vector<float> row(shape.cols);
    double worst = 0;
    for (std::int32_t n = 0; n < shape.rows; ++n) {
      values(c.plain.w, n, 0, shape.cols, row.data());
      for (std::int64_t t = 0; t < rows; ++t) {
        const std::size_t at = t * (shape.rows + 3) + n;
        const double ratio = std::fabs(y[at] - right[at]) / allowed(c, t, row);
        worst = std::max(worst, ratio);
        ASSERT_LE(ratio, 1) << "row " << t << ", output " << n << ": " << y[at] << " for " << right[at];
      }
    }
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (static_cast<std::int64_t>(i / (shape.rows + 3)) >= rows ||
          i % (shape.rows + 3) >= std::size_t(shape.rows)) {
        ASSERT_EQ(y[i], -77.0f) << "written past the end, at " << i;
      }
    }
  });
}

constexpr Encoding kEncodings[] = {Encoding::f32, Encoding::bf16, Encoding::fp8_block32, Encoding::mxfp8,
                                   Encoding::mxfp4};

TEST(Linear, EveryTableAgreesWithTheReferenceAtToyShapes) {
  for (const Encoding e : kEncodings) {
    for (const auto& [rows, cols] : {std::pair{64, 64}, {24, 96}, {7, 160}, {40, 1056}}) {
      for (const std::int64_t t : {1, 2, 7, 100}) expect_agreement({e, rows, cols}, t);
    }
  }
  for (const Encoding e : {Encoding::f32, Encoding::bf16, Encoding::fp8_block32}) {
    expect_agreement({e, 19, 45}, 5);
  }
}

TEST(Linear, EveryTableAgreesWithTheReferenceAtRealWidths) {
  for (const Encoding e : kEncodings) expect_agreement({e, 512, 5120}, 3);
  expect_agreement({Encoding::fp8_block32, 1280, 5120}, 1);
  expect_agreement({Encoding::fp8_block32, 5120, 2304}, 1);
  expect_agreement({Encoding::bf16, 4096, 5120}, 1);
  expect_agreement({Encoding::bf16, 129280, 64}, 1);
}

TEST(LinearSlow, TheWholeHeadAgrees) { expect_agreement({Encoding::bf16, 129280, 5120}, 1); }

TEST(Linear, EveryCodeAndScaleIsDecodedExactly) {
  for (const Encoding e : {Encoding::fp8_block32, Encoding::mxfp8, Encoding::mxfp4}) {
    for (const int scale : {0, 1, 7, 127, 134, 135, 200, 240, 245, 246, 253, 254}) {
      if (e != Encoding::mxfp4 && scale > 246) continue;  // weight.h allows FP8 no larger ones
      Chance chance(5);
      LinearCase c(chance, {e, 64, 32}, 32);
      std::size_t code = 0;
      for (std::byte& b : c.plain.codes) {
        b = std::byte(code++ & 255);
        if (e != Encoding::mxfp4 && (b & std::byte{0x7f}) == std::byte{0x7f}) b = std::byte{1};
      }
      for (std::byte& s : c.plain.scales) s = std::byte(scale);
      for (std::int64_t t = 0; t < 32; ++t) {
        for (std::int64_t k = 0; k < 32; ++k) c.x[t * 32 + k] = to_bf16(t == k ? 1.0f : 0.0f);
      }
      each_table([&](const Table& table) {
        const Matrix m = arranged_for(table, c.plain);
        const std::vector<float> y = c.f32_of(table, m.w);
        for (std::int64_t t = 0; t < 32; ++t) {
          for (std::int64_t n = 0; n < 64; ++n) {
            const float right = value(c.plain.w, n, t);
            if (std::isinf(right)) continue;  // and its row's other sums are NaN
            bool alone = true;
            for (std::int64_t k = 0; k < 32; ++k) alone = alone && !std::isinf(value(c.plain.w, n, k));
            if (!alone) continue;
            ASSERT_EQ(y[t * 67 + n], right) << "scale " << scale << ", " << n << ", " << t;
          }
        }
      });
    }
  }
}

TEST(Linear, RowsTogetherAreAsRowsAlone) {
  for (const Encoding e : kEncodings) {
    for (const std::int32_t cols : {96, 1280}) {
      Chance chance(11);
      LinearCase all(chance, {e, 48, cols}, 131);
      each_table([&](const Table& table) {
        const Matrix m = arranged_for(table, all.plain);
        const std::vector<float> together = all.f32_of(table, m.w);
        for (const std::int64_t size : {1, 2, 5, 64}) {
          for (std::int64_t first = 0; first + size <= 131; first += size * 7 + 1) {
            std::vector<float> y(size * 48);
            Linear p = all.params(m.w);
            p.used = nullptr;
            p.parts[0].x = {all.x.data() + first * cols, size, cols, cols};
            p.parts[0].y.f32 = rows_of(y, 48);
            Trial().run(table.linear, p);
            for (std::int64_t i = 0; i < size * 48; ++i) {
              ASSERT_EQ(y[i], together[(first + i / 48) * 51 + i % 48])
                  << name(e) << " " << size << " at " << first;
            }
          }
        }
      });
    }
  }
}

TEST(Linear, NormAndGridsOfManyPartsAgreeWithTheReference) {
  for (const std::int32_t cols : {128, 1280}) {
    Chance chance(17);
    const Matrix a = plain_matrix(chance, Encoding::fp8_block32, 96, cols);
    const Matrix b = plain_matrix(chance, Encoding::bf16, 32, cols);
    const std::vector<Bf16> x = chance.bf16(9 * cols), gain = chance.bf16(cols, 1, 0.2f);
    const auto run = [&](const Table& table, std::vector<Bf16>& ya, std::vector<Bf16>& yb) {
      const Matrix ta = arranged_for(table, a), tb = arranged_for(table, b);
      Linear p = {};
      p.count = 2, p.norm = gain.data(), p.eps = 1e-20f, p.grid_in = true, p.grid_out = true;
      p.parts[0] = {rows_of(x, cols), ta.w, {rows_of(ya, 96), {}}};
      p.parts[1] = {rows_of(x, cols), tb.w, {rows_of(yb, 32), {}}};
      Trial().run(table.linear, p);
    };
    std::vector<Bf16> right_a(9 * 96), right_b(9 * 32);
    run(kReference, right_a, right_b);
    each_table([&](const Table& table) {
      std::vector<Bf16> ya(9 * 96), yb(9 * 32);
      run(table, ya, yb);
      // A step of the FP8 grid is 6 %; a rare sum that falls on the other side of one is allowed.
      EXPECT_LE(relative_error(ya.data(), right_a.data(), 9 * 96), 5e-3);
      EXPECT_LE(relative_error(yb.data(), right_b.data(), 9 * 32), 5e-3);
    });
  }
}

}  // namespace
}  // namespace manyspan::kernels
