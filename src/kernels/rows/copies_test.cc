#include "kernels/agreement.h"
#include "kernels/trial_quadrants.h"

namespace manyspan::kernels {
namespace {

TEST(Copies, EveryTableEmbedsExactly) {
  for (const std::int32_t d : {96, 5120}) {
    Chance chance(2);
    const Matrix plain = plain_matrix(chance, Encoding::bf16, 37, d);
    TrialBatch batch({{0, {3}, 0, 4}, {1, {0}, 0, 1}});
    for (std::int64_t t = 0; t < batch.used(); ++t) batch.ids()[t] = {chance.below(37)};
    const auto run = [&](const Table& table, std::vector<Bf16>& streams, std::vector<float>& pre) {
      const Matrix m = arranged_for(table, plain);
      Trial().run(table.embed, Embed{m.w, batch.view(), 4, rows_of(streams, 4 * d), rows_of(pre, 4)});
    };
    std::vector<Bf16> right(batch.rows() * 4 * d, kPoison16);
    std::vector<float> right_pre(batch.rows() * 4, -9.0f);
    run(kReference, right, right_pre);
    each_table([&](const Table& table) {
      std::vector<Bf16> y(batch.rows() * 4 * d, kPoison16);
      std::vector<float> pre(batch.rows() * 4, -9.0f);
      run(table, y, pre);
      EXPECT_TRUE(same_bits(y, right));
      EXPECT_TRUE(same_bits(pre, right_pre));
    });
  }
}

// Embeddings may be stored in what a row can be read from.
TEST(Copies, EveryTableEmbedsEveryEncodingExactly) {
  for (const Encoding e : every_encoding()) {
    if (scale_cell(e).rows > 1) continue;
    SCOPED_TRACE(std::string(name(e)));
    constexpr std::int32_t kWidth = 5120;
    Chance chance(static_cast<std::uint64_t>(e));
    const Matrix plain = plain_matrix(chance, e, 37, kWidth);
    TrialBatch batch({{0, {3}, 0, 4}, {1, {0}, 0, 1}});
    for (std::int64_t t = 0; t < batch.used(); ++t) batch.ids()[t] = {chance.below(37)};
    std::vector<float> x(kWidth);
    each_table([&](const Table& table) {
      const Matrix m = arranged_for(table, plain);
      std::vector<Bf16> y(batch.rows() * 4 * kWidth, kPoison16);
      std::vector<float> pre(batch.rows() * 4, -9.0f);
      Trial(1).run(table.embed, Embed{m.w, batch.view(), 4, rows_of(y, 4 * kWidth), rows_of(pre, 4)});
      for (std::int64_t t = 0; t < batch.used(); ++t) {
        values(plain.w, batch.ids()[t].value, 0, kWidth, x.data());
        for (std::int64_t k = 0; k < 4 * kWidth; ++k)
          ASSERT_EQ(y[t * 4 * kWidth + k].bits, to_bf16(x[k % kWidth]).bits) << t << " " << k;
      }
      EXPECT_TRUE(poisoned(y[batch.used() * 4 * kWidth]));
    });
  }
}

TEST(Copies, EveryTableGathersExactly) {
  Chance chance(4);
  const std::vector<Bf16> streams = chance.bf16(9 * 128);
  const std::vector<float> pre = chance.f32(9 * 4);
  const std::vector<std::int32_t> list = {2, 8, 0, -1};
  const std::int32_t count = 3;
  each_table([&](const Table& table) {
    std::vector<Bf16> out(4 * 128, kPoison16);
    std::vector<float> out_pre(4 * 4, -9.0f);
    Trial().run(table.gather, Gather{rows_of(streams, 128), rows_of(pre, 4), list.data(), &count,
                                     rows_of(out, 128), rows_of(out_pre, 4)});
    for (std::int64_t i = 0; i < 3; ++i) {
      for (std::int64_t c = 0; c < 128; ++c)
        ASSERT_EQ(out[i * 128 + c].bits, streams[list[i] * 128 + c].bits);
      for (std::int64_t c = 0; c < 4; ++c) ASSERT_EQ(out_pre[i * 4 + c], pre[list[i] * 4 + c]);
    }
    EXPECT_TRUE(poisoned(out[3 * 128]));
    EXPECT_EQ(out_pre[12], -9.0f);
  });
}

}  // namespace
}  // namespace manyspan::kernels
