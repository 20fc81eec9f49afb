#include <gtest/gtest.h>

#include "kernels/round/round.h"
#include "kernels/table.h"
#include "kernels/trial.h"
#include "kernels/vectors.h"

namespace manyspan::kernels {
namespace {

constexpr std::int64_t kDim = 64, kHeads = 9, kWidth = 130;

std::uint8_t* u8(std::byte* p) { return reinterpret_cast<std::uint8_t*>(p); }

struct AttendCase {
  Vectors v{"attend"};
  std::vector<float> frequency = v.f32("frequency"), sink = v.f32("sink");
  std::vector<Bf16> q = v.bf16("q"), k = v.bf16("k"), rows = v.bf16("rows");
  std::vector<std::int32_t> count = v.i32("count"), selected = v.i32("selected");
  TrialBatch batch{{{1, {0}, 0, 4}, {0, {200}, 0, 5}}};
  TrialWindow window{2, 4, kDim};
  TrialSource source{2, 3, 1, kDim, 32};
  std::vector<Bf16> o = std::vector<Bf16>(batch.rows() * kHeads * kDim, Bf16{0x7fc1}), core = o;

  AttendCase() {
    q.resize(o.size(), Bf16{0x7fc0});
    count.resize(batch.rows(), -1);
    for (const auto& [slot, from, to] : {std::tuple{1, 0, 4}, std::tuple{0, 131, 205}}) {
      for (std::int64_t p = from; p < to; ++p) {
        grid8_encode(k.data() + p * kDim, kDim, u8(window.view.codes(slot, p)),
                     u8(window.view.scales(slot, p)));
      }
    }
    for (std::int64_t slot = 0; slot < 2; ++slot) {
      for (std::int64_t j = 0; j < 150; ++j) {
        grid4_row_encode(rows.data() + j * kDim, kDim, u8(source.view.codes(slot, j)),
                         u8(source.view.scales(slot, j)));
      }
    }
  }

  Attend params() {
    Attend p = {};
    p.q = rows_of(std::as_const(q), kHeads * kDim);
    p.heads = kHeads, p.window_rows = 70, p.scale = 0.125f;
    p.batch = batch.view();
    p.window = window.view, p.source = source.view;
    p.selected = {selected.data(), count.data(), kWidth};
    p.rope = {frequency.data(), 16};
    p.sink = sink.data();
    p.o = rows_of(o, kHeads * kDim), p.core_tap = rows_of(core, kHeads * kDim);
    return p;
  }
};

TEST(AttendReference, FourBlocksWithPaddingBetweenEqualTheOracle) {
  AttendCase c;
  Trial().run(kReference.attend, c.params());
  EXPECT_EQ(c.o.back().bits, 0x7fc1) << "a row past the used ones was written";
  c.o.resize(c.v.bf16("o").size()), c.core.resize(c.o.size());
  EXPECT_EQ(bits(c.core), bits(c.v.bf16("core")));
  EXPECT_EQ(bits(c.o), bits(c.v.bf16("o")));
}

TEST(AttendReference, WithoutASourceOnlyTheWindowCounts) {
  AttendCase with, without;
  std::fill(with.count.begin(), with.count.end(), 0);
  Attend p = without.params();
  p.source.ratio = 0, p.source.pool = nullptr, p.selected = {};
  Trial trial;
  trial.run(kReference.attend, with.params());
  trial.run(kReference.attend, p);
  EXPECT_EQ(bits(with.o), bits(without.o));
}

// One key only: its weight is 1, so what comes out is its value shrunk by the sink's share.
TEST(AttendReference, TheSinkTakesItsShare) {
  AttendCase c;
  std::fill(c.count.begin(), c.count.end(), 0);
  for (float& s : c.sink) s = 1e4f;  // takes all
  Trial().run(kReference.attend, c.params());
  for (std::int64_t i = 0; i < kHeads * kDim; ++i) EXPECT_EQ(to_float(c.o[i]), 0);
}

}  // namespace
}  // namespace manyspan::kernels
