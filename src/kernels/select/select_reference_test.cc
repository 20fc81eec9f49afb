#include <gtest/gtest.h>

#include "kernels/round/round.h"
#include "kernels/table.h"
#include "kernels/trial.h"
#include "kernels/vectors.h"

namespace manyspan::kernels {
namespace {

constexpr std::int64_t kKey = 32, kHeads = 5;
constexpr std::int32_t kRows = 11, kSlot = 1;

std::uint8_t* u8(std::byte* p) { return reinterpret_cast<std::uint8_t*>(p); }

// Layer 0 writes the candidates, layer 1 chooses among them. A stranger's row stands before the session's.
struct SelectCase {
  explicit SelectCase(const char* name) : v(name) {
    const std::vector<Bf16> keys = v.bf16("keys");
    for (std::int64_t slot = 0; slot < 2; ++slot) {
      for (std::int64_t j = 0; j < shape[1]; ++j) {
        grid4_key_encode(keys.data() + j * kKey, kKey, u8(source.view.key_codes(slot, j)),
                         u8(source.view.key_scales(slot, j)));
      }
    }
  }

  Vectors v;
  std::vector<std::int32_t> shape = v.i32("shape");  // ratio, rows, width, blocks, block rows, first position
  std::vector<float> frequency = v.f32("frequency");
  TrialSource source{2, 2, shape[0], 32, kKey};
  TrialBatch batch{{{0, {0}, 0, 1}, {kSlot, {shape[5]}, 0, kRows}}};
  std::vector<std::int32_t> blocks = filled(shape[3]), block_count = filled(1);

  std::vector<std::int32_t> filled(std::int64_t width) const {
    return std::vector<std::int32_t>(batch.rows() * width, -7);
  }
  template <class T>
  std::vector<T> session(const std::vector<T>& all, std::int64_t cols) const {
    return {all.begin() + cols, all.begin() + (1 + kRows) * cols};
  }

  void layer(int l, bool taps) {
    const std::string n = std::to_string(l);
    const auto with_stranger = [&](const std::string& key, std::int64_t cols) {
      std::vector<Bf16> x = v.bf16(key);
      x.insert(x.begin(), x.end() - cols, x.end());
      x.resize(batch.rows() * cols, Bf16{0x7fc0});
      return x;
    };
    const auto q = with_stranger("q" + n, kHeads * kKey), w = with_stranger("w" + n, kHeads);
    const std::int64_t visible = static_cast<std::int64_t>(v.bf16("score" + n).size()) / kRows;
    std::vector<Bf16> query(q.size()), weight(w.size()), score(batch.rows() * visible);
    std::vector<std::int32_t> rows = filled(shape[2]), count = filled(1);
    Select p = {};
    p.q = rows_of(q, kHeads * kKey), p.head_weights = rows_of(w, kHeads);
    p.head_scale = v.f32("scale")[0], p.heads = kHeads;
    p.batch = batch.view(), p.source = source.view, p.rope = {frequency.data(), 16};
    const Candidates candidates = {blocks.data(), block_count.data(), shape[3], shape[4]};
    (l == 0 ? p.write : p.read) = candidates;
    p.out = {rows.data(), count.data(), shape[2]};
    p.most_rows = shape[1];
    if (taps) {
      p.query_tap = rows_of(query, kHeads * kKey), p.weight_tap = rows_of(weight, kHeads);
      p.score_tap = rows_of(score, visible);
    }
    Trial().run(kReference.select, p);
    EXPECT_EQ(session(rows, shape[2]), v.i32("sel" + n));
    for (std::int64_t t = 1; t <= kRows; ++t) {
      const auto* row = rows.data() + t * shape[2];
      EXPECT_EQ(count[t], std::count_if(row, row + shape[2], [](std::int32_t r) { return r >= 0; }));
    }
    EXPECT_EQ(count.back(), -7);
    EXPECT_EQ(count[0], 1 / shape[0]) << "the stranger at position 0 sees one row of ratio 1, none of others";
    if (l == 0) {
      EXPECT_EQ(session(blocks, shape[3]), v.i32("blocks"));
    }
    if (!taps) return;
    EXPECT_EQ(bits(session(query, kHeads * kKey)), bits(v.bf16("query" + n)));
    EXPECT_EQ(bits(session(weight, kHeads)), bits(v.bf16("weight" + n)));
    EXPECT_EQ(values_of(session(score, visible)), values_of(v.bf16("score" + n)));
  }

  static std::vector<float> values_of(const std::vector<Bf16>& x) {
    std::vector<float> out;
    for (const Bf16 b : x) out.push_back(to_float(b));
    return out;
  }
};

TEST(SelectReference, PairsOfTokensEqualTheOracle) {
  SelectCase c("select2");
  c.layer(0, true);
  c.layer(1, true);
}

TEST(SelectReference, TheFirstRowsOfASessionEqualTheOracle) {
  SelectCase c("select1");
  c.layer(0, true);
  c.layer(1, true);
}

TEST(SelectReference, TapsChangeNothing) {
  SelectCase c("select2");
  c.layer(0, false);
  c.layer(1, false);
}

}  // namespace
}  // namespace manyspan::kernels
