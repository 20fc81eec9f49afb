#include <gtest/gtest.h>

#include "kernels/table.h"
#include "kernels/trial.h"
#include "kernels/vectors.h"

namespace manyspan::kernels {
namespace {

constexpr std::int64_t kStreams = 4, kDim = 32, kColumns = 3, kTableDim = 64;

TEST(EngramRowsReference, EqualsTheOracleBitForBit) {
  const Vectors v("engram");
  const TrialBatch batch({{0, {0}, 0, 6}});
  std::vector<std::uint8_t> packed = v.u8("packed");
  packed.resize(batch.rows() * kColumns * (kTableDim + 2), 0x7f);
  std::vector<Bf16> y(batch.rows() * kColumns * kTableDim, Bf16{0x7fc1}), embed = y;
  EngramRows p = {};
  p.packed = rows_of(std::as_const(packed), kColumns * (kTableDim + 2)), p.batch = batch.view();
  p.columns = kColumns, p.dim = kTableDim, p.encoding = Encoding::mxfp8;
  p.y = rows_of(y, kColumns * kTableDim), p.embed_tap = rows_of(embed, kColumns * kTableDim);
  Trial().run(kReference.engram_rows, p);
  EXPECT_EQ(y.back().bits, 0x7fc1);
  y.resize(6 * kColumns * kTableDim), embed.resize(y.size());
  EXPECT_EQ(bits(embed), bits(v.bf16("embed")));
  EXPECT_EQ(bits(y), bits(v.bf16("y")));
}

TEST(EngramGateReference, EqualsTheOracleAndIsShutOnImageSpans) {
  const Vectors v("engram");
  TrialBatch batch({{0, {0}, 0, 6}});
  const auto marks = v.u8("marks");
  std::copy(marks.begin(), marks.end(), batch.marks().begin());
  std::vector<Bf16> streams = v.bf16("streams"), kv = v.bf16("kv");
  const std::vector<Bf16> q = v.bf16("q_gain"), k = v.bf16("k_gain");
  streams.resize(batch.rows() * kStreams * kDim, Bf16{0x7fc1});
  kv.resize(batch.rows() * (kStreams + 1) * kDim, Bf16{0x7fc1});
  std::vector<float> gate(batch.rows() * kStreams);
  EngramGate p = {};
  p.streams = rows_of(streams, kStreams * kDim), p.streams_count = kStreams, p.batch = batch.view();
  p.kv = rows_of(std::as_const(kv), (kStreams + 1) * kDim);
  p.q_gain = q.data(), p.k_gain = k.data(), p.eps = 1e-20f;
  p.gate_tap = rows_of(gate, kStreams);
  Trial().run(kReference.engram_gate, p);
  EXPECT_EQ(streams.back().bits, 0x7fc1);
  streams.resize(6 * kStreams * kDim), gate.resize(6 * kStreams);
  EXPECT_EQ(bits(gate), bits(v.f32("gate")));
  EXPECT_EQ(bits(streams), bits(v.bf16("out")));
  EXPECT_EQ(gate[4 * kStreams], 0);
}

}  // namespace
}  // namespace manyspan::kernels
