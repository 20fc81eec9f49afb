#include <gtest/gtest.h>

#include "kernels/table.h"
#include "kernels/trial.h"
#include "kernels/vectors.h"

namespace manyspan::kernels {
namespace {

TEST(EmbedReference, EachStreamStartsAsTheTokensRow) {
  std::vector<float> table(5 * 3);
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<float>(i) + 0.5f;
  TrialBatch batch({{0, {0}, 0, 2}});
  batch.ids()[0] = {4}, batch.ids()[1] = {1};
  std::vector<Bf16> streams(batch.rows() * 6, Bf16{0x7fc1});
  std::vector<float> pre(batch.rows() * 2, -7);
  Embed p = {};
  p.table.codes = reinterpret_cast<const std::byte*>(table.data());
  p.table.rows = 5, p.table.cols = 3, p.table.encoding = Encoding::f32;
  p.batch = batch.view(), p.streams_count = 2;
  p.streams = rows_of(streams, 6), p.pre = rows_of(pre, 2);
  Trial().run(kReference.embed, p);
  const float expected[] = {12.5f, 13.5f, 14.5f, 12.5f, 13.5f, 14.5f, 3.5f, 4.5f, 5.5f, 3.5f, 4.5f, 5.5f};
  for (int i = 0; i < 12; ++i) EXPECT_EQ(to_float(streams[i]), expected[i]) << i;
  EXPECT_EQ(streams[12].bits, 0x7fc1);
  EXPECT_EQ(std::vector<float>(pre.begin(), pre.begin() + 5), (std::vector<float>{1, 0, 1, 0, -7}));
}

TEST(GatherReference, TheListedRowsArePackedInListOrder) {
  const std::vector<Bf16> streams = {{10}, {11}, {20}, {21}, {30}, {31}};
  const std::vector<float> pre = {1, 2, 3};
  const std::int32_t rows[] = {2, 0, 1}, count = 2;
  std::vector<Bf16> out(6, Bf16{7});
  std::vector<float> out_pre(3, 7);
  Gather p = {};
  p.streams = rows_of(streams, 2), p.pre = rows_of(pre, 1), p.rows = rows, p.count = &count;
  p.out_streams = rows_of(out, 2), p.out_pre = rows_of(out_pre, 1);
  Trial().run(kReference.gather, p);
  EXPECT_EQ(bits(out), (std::vector<std::uint32_t>{30, 31, 10, 11, 7, 7}));
  EXPECT_EQ(out_pre, (std::vector<float>{3, 1, 7}));
}

}  // namespace
}  // namespace manyspan::kernels
