#include "kernels/agreement.h"

namespace manyspan::kernels {
namespace {

TEST(Engram, EveryTableReadsRowsExactly) {
  for (const auto& [columns, dim] : {std::pair{6, 32}, {24, 256}, {3, 96}}) {
    Chance chance(columns);
    TrialBatch batch({{0, {3}, 0, 4}, {1, {0}, 0, 1}});
    const std::int64_t width = columns * (dim + dim / 32);
    std::vector<std::uint8_t> packed(batch.rows() * width);
    for (std::size_t i = 0; i < packed.size(); ++i) {
      const std::int64_t in_row = static_cast<std::int64_t>(i) % width % (dim + dim / 32);
      packed[i] = static_cast<std::uint8_t>(in_row < dim ? chance.below(127) + 128 * chance.below(2)
                                                         : 110 + chance.below(12));
    }
    const auto run = [&](const Table& table, std::vector<Bf16>& y, std::vector<Bf16>& tap) {
      Trial().run(table.engram_rows,
                  EngramRows{rows_of(std::as_const(packed), width), batch.view(), columns, dim,
                             Encoding::mxfp8, rows_of(y, columns * dim), rows_of(tap, columns * dim)});
    };
    std::vector<Bf16> right(batch.rows() * columns * dim, kPoison16), right_tap = right;
    run(kReference, right, right_tap);
    each_table([&, columns = columns, dim = dim](const Table& table) {
      std::vector<Bf16> y(batch.rows() * columns * dim, kPoison16), tap = y;
      run(table, y, tap);
      EXPECT_TRUE(same_bits(y, right));
      EXPECT_TRUE(same_bits(tap, right_tap));
    });
  }
}

TEST(Engram, EveryTableGatesAsTheReferenceDoes) {
  for (const std::int64_t d : {96, 5120}) {
    Chance chance(d);
    TrialBatch batch({{0, {3}, 0, 6}, {1, {0}, 0, 1}});
    batch.marks()[2] = kMarkImageSpan;
    const std::int64_t s = 4, rows = batch.rows();
    const std::vector<Bf16> streams = chance.bf16(rows * s * d), kv = chance.bf16(rows * (s + 1) * d);
    const std::vector<Bf16> q = chance.bf16(s * d, 1, 0.5f), k = chance.bf16(s * d, 0.5f, 0.5f);
    const auto run = [&](const Table& table, std::vector<Bf16>& x, std::vector<float>& gate) {
      Trial().run(table.engram_gate, EngramGate{rows_of(x, s * d), 4, batch.view(), rows_of(kv, (s + 1) * d),
                                                q.data(), k.data(), 1e-20f, rows_of(gate, s)});
    };
    std::vector<Bf16> right = streams;
    std::vector<float> right_gate(rows * s, -9.0f);
    run(kReference, right, right_gate);
    each_table([&](const Table& table) {
      std::vector<Bf16> y = streams;
      std::vector<float> gate(rows * s, -9.0f);
      run(table, y, gate);
      for (std::int64_t i = 0; i < rows * s; ++i) ASSERT_NEAR(gate[i], right_gate[i], 2e-5) << i;
      for (std::int64_t i = 0; i < rows * s * d; ++i) {
        const bool near =
            std::fabs(to_float(y[i]) - to_float(right[i])) <= 1e-4f;  // where the two terms cancel
        ASSERT_TRUE(near || bf16_steps(y[i], right[i]) <= kEngramGateUlps) << i;
      }
    });
  }
}

}  // namespace
}  // namespace manyspan::kernels
