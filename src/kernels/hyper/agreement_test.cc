#include "kernels/agreement.h"

#include "kernels/round/round.h"

namespace manyspan::kernels {
namespace {

struct TurnCase {
  std::int64_t t, s, d;
  std::vector<Bf16> streams, o, gain;
  std::vector<float> post, comb, pre;
  std::int32_t used;

  TurnCase(Chance& chance, std::int64_t rows, std::int64_t count, std::int64_t width)
      : t(rows + 1),
        s(count),
        d(width),
        streams(chance.bf16(t * s * d)),
        o(chance.bf16(t * d)),
        gain(chance.bf16(d, 1, 0.3f)),
        post(chance.f32(t * s, 1, 0.2f)),
        comb(chance.f32(t * s * s, 0.25f, 0.1f)),
        pre(chance.f32(t * s, 0.5f, 0.2f)),
        used(static_cast<std::int32_t>(rows)) {}

  struct Out {
    std::vector<Bf16> streams, mean, x, x8;
  };
  Out run(const Table& table, std::int64_t first = 0, std::int64_t rows = -1) {
    Out out = {streams, std::vector(t * d, kPoison16), std::vector(t * d, kPoison16),
               std::vector(t * d, kPoison16)};
    Turn p = {};
    p.streams_count = static_cast<std::int32_t>(s), p.eps = 1e-20f, p.gain = gain.data();
    p.used = rows < 0 ? &used : nullptr;
    const auto part = [&](auto& v, std::int64_t cols) {
      auto r = rows_of(v, cols);
      r.data += first * cols;
      r.rows = rows < 0 ? t : rows;
      return r;
    };
    p.streams = part(out.streams, s * d), p.o = as_const(part(o, d));
    p.post = as_const(part(post, s)), p.comb = as_const(part(comb, s * s)), p.pre = as_const(part(pre, s));
    p.mean = part(out.mean, d), p.x = part(out.x, d), p.x8 = part(out.x8, d);
    Trial().run(table.turn, p);
    return out;
  }
};

// No element further off than kTurnUlps, or, where terms cancel, than a step of the largest among them.
void expect_close(const std::vector<Bf16>& y, const std::vector<Bf16>& right, std::int64_t n, float size,
                  const char* what) {
  for (std::int64_t i = 0; i < n; ++i) {
    const bool near = std::fabs(to_float(y[i]) - to_float(right[i])) <= size * 1e-5f;
    ASSERT_TRUE(near || bf16_steps(y[i], right[i]) <= kTurnUlps)
        << what << " " << i << ": " << to_float(y[i]) << " for " << to_float(right[i]);
  }
}

TEST(Turn, EveryTableAgreesWithTheReference) {
  for (const auto& [rows, s, d] :
       {std::tuple{5, 4, 64}, {3, 2, 96}, {2, 4, 5120}, {20, 4, 256}, {2, 8, 32}}) {
    Chance chance(rows + d);
    TurnCase c(chance, rows, s, d);
    const TurnCase::Out right = c.run(kReference);
    each_table([&](const Table& table) {
      const TurnCase::Out y = c.run(table);
      expect_close(y.streams, right.streams, rows * s * d, 1, "stream");
      expect_close(y.mean, right.mean, rows * d, 1, "mean");
      expect_close(y.x, right.x, rows * d, 1, "x");
      EXPECT_LE(relative_error(y.x8.data(), right.x8.data(), rows * d), 5e-3);
      for (std::int64_t i = rows * d; i < (rows + 1) * d; ++i) {
        ASSERT_TRUE(poisoned(y.mean[i]) && poisoned(y.x[i]) && poisoned(y.x8[i]));
      }
      for (std::int64_t i = rows * s * d; i < (rows + 1) * s * d; ++i) {
        ASSERT_EQ(y.streams[i].bits, c.streams[i].bits);
      }
    });
  }
}

TEST(Turn, X8IsExactlyXOnTheGrid) {
  Chance chance(9);
  TurnCase c(chance, 30, 4, 256);
  each_table([&](const Table& table) {
    const TurnCase::Out y = c.run(table);
    std::vector<Bf16> grid = y.x;
    for (std::int64_t t = 0; t < 30; ++t) grid8_row(grid.data() + t * 256, 256);
    for (std::int64_t i = 0; i < 30 * 256; ++i) ASSERT_EQ(y.x8[i].bits, grid[i].bits) << i;
  });
}

TEST(Turn, RowsTogetherAreAsRowsAlone) {
  Chance chance(10);
  TurnCase c(chance, 40, 4, 96);
  each_table([&](const Table& table) {
    const TurnCase::Out all = c.run(table);
    for (const auto& [first, rows] : {std::pair{0, 1}, {7, 1}, {3, 30}}) {
      const TurnCase::Out y = c.run(table, first, rows);
      for (std::int64_t i = first * 96; i < (first + rows) * 96; ++i) {
        ASSERT_TRUE(y.x[i].bits == all.x[i].bits && y.x8[i].bits == all.x8[i].bits);
      }
      for (std::int64_t i = first * 384; i < (first + rows) * 384; ++i) {
        ASSERT_EQ(y.streams[i].bits, all.streams[i].bits);
      }
    }
  });
}

struct MixCase {
  std::int64_t t, s, d;
  std::vector<Bf16> streams;
  Matrix fn;
  std::vector<float> base, scale = {1.5f, 0.7f, 2.0f};
  std::int32_t used;

  MixCase(Chance& chance, std::int64_t rows, std::int32_t count, std::int64_t width)
      : t(rows + 1),
        s(count),
        d(width),
        streams(chance.bf16(t * s * d)),
        fn(plain_matrix(chance, Encoding::f32, count * (2 + count), static_cast<std::int32_t>(s * d))),
        base(chance.f32(fn.w.rows, 0, 1)),
        used(static_cast<std::int32_t>(rows)) {}

  // pre, post and comb of each row, side by side.
  std::vector<float> run(const Table& table, std::int64_t first = 0, std::int64_t rows = -1) {
    const Matrix m = arranged_for(table, fn);
    std::vector<float> out(t * fn.w.rows, -9.0f);
    Mix p = {};
    p.streams_count = static_cast<std::int32_t>(s), p.fn = m.w, p.base = base.data(), p.scale = scale.data();
    p.eps = 1e-20f, p.mix_eps = 1e-6f, p.iterations = 20;
    p.used = rows < 0 ? &used : nullptr;
    const std::int64_t count = rows < 0 ? t : rows, step = fn.w.rows;
    p.streams = {streams.data() + first * s * d, count, s * d, s * d};
    float* to = out.data() + first * step;
    p.pre = {to, count, s, step}, p.post = {to + s, count, s, step},
    p.comb = {to + 2 * s, count, s * s, step};
    Trial().run(table.mix, p);
    return out;
  }
};

TEST(Mix, EveryTableAgreesWithTheReference) {
  for (const auto& [rows, s, d] :
       {std::tuple{5, 4, 64}, {40, 4, 256}, {3, 2, 96}, {2, 4, 5120}, {17, 3, 32}}) {
    Chance chance(rows + d);
    MixCase c(chance, rows, s, d);
    const std::vector<float> right = c.run(kReference);
    each_table([&](const Table& table) {
      const std::vector<float> y = c.run(table);
      for (std::size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], right[i], kMixTolerance) << i;
    });
  }
}

TEST(Mix, RowsTogetherAreAsRowsAlone) {
  Chance chance(12);
  MixCase c(chance, 45, 4, 320);
  each_table([&](const Table& table) {
    const std::vector<float> all = c.run(table);
    for (const auto& [first, rows] : {std::pair{0, 1}, {7, 1}, {3, 30}, {44, 1}}) {
      const std::vector<float> y = c.run(table, first, rows);
      for (std::int64_t i = first * 24; i < (first + rows) * 24; ++i) ASSERT_EQ(y[i], all[i]) << i;
    }
  });
}

}  // namespace
}  // namespace manyspan::kernels
