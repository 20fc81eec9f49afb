#include <limits>

#include <gtest/gtest.h>

#include "kernels/round/round.h"
#include "kernels/table.h"
#include "kernels/trial.h"
#include "kernels/vectors.h"

namespace manyspan::kernels {
namespace {

constexpr std::int64_t kDim = 64, kKey = 32;
constexpr std::int32_t kSlot = 1;

const std::uint8_t* u8(const std::byte* p) { return reinterpret_cast<const std::uint8_t*>(p); }

// One session's tokens, remembered in chunks, beside a stranger whose rows hold zeros.
struct RememberCase {
  Vectors v;
  std::int32_t ratio;
  std::vector<float> frequency = v.f32("frequency"), a = v.f32("a"), g = v.f32("g");
  std::vector<Bf16> k = v.bf16("k"), row = v.bf16("row");
  std::vector<Bf16> k_gain = v.bf16("k_gain"), row_gain = v.bf16("row_gain"), wk = v.bf16("wk"),
                    key_gain = v.bf16("key_gain");
  TrialWindow window{3, 2, kDim};
  TrialSource source{3, 2, ratio, kDim, kKey};
  std::vector<float> tail =
      std::vector<float>(3 * kTailTokens * 2 * kDim, std::numeric_limits<float>::quiet_NaN());
  std::vector<Bf16> latents;

  RememberCase(const char* name, std::int32_t r) : v(name), ratio(r) {}

  void chunk(std::int64_t first, std::int32_t rows) {
    TrialBatch batch({{2, {7}, 0, 1}, {kSlot, {static_cast<std::int32_t>(first)}, 0, rows}});
    const auto of = [&](const auto& all, auto zero) {
      std::vector<std::decay_t<decltype(zero)>> part(kDim, zero);
      part.insert(part.end(), all.begin() + first * kDim, all.begin() + (first + rows) * kDim);
      part.resize(batch.rows() * kDim, zero);
      return part;
    };
    const auto k_part = of(k, Bf16{0}), row_part = of(row, Bf16{0});
    const auto a_part = of(a, 0.0f), g_part = of(g, 0.0f);
    std::vector<Bf16> latent(batch.rows() * kDim, Bf16{0x7fc1});
    Remember p = {};
    p.batch = batch.view(), p.eps = 1e-20f, p.rope = {frequency.data(), 16};
    p.k = rows_of(k_part, kDim), p.k_gain = k_gain.data(), p.window = window.view;
    p.source = source.view;
    if (ratio > 1) p.a = rows_of(a_part, kDim), p.g = rows_of(g_part, kDim);
    if (ratio == 1) p.row = rows_of(row_part, kDim);
    p.row_gain = row_gain.data(), p.key_gain = key_gain.data();
    p.wk.codes = reinterpret_cast<const std::byte*>(wk.data());
    p.wk.rows = kKey, p.wk.cols = kDim, p.wk.encoding = Encoding::bf16;
    p.tail = {tail.data()};
    p.latent_tap = rows_of(latent, kDim);
    Trial().run(kReference.remember, p);
    const std::int64_t stranger = 8 % ratio == 0 ? 1 : 0;  // it completes a group at position 7
    const std::int64_t groups = (first + rows) / ratio - first / ratio;
    latents.insert(latents.end(), latent.begin() + stranger * kDim,
                   latent.begin() + (stranger + groups) * kDim);
    EXPECT_EQ(latent[(stranger + groups) * kDim].bits, 0x7fc1);
  }

  void expect_all(std::int64_t tokens) {
    std::vector<Bf16> windows(tokens * kDim), rows(tokens / ratio * kDim), keys(tokens / ratio * kKey);
    for (std::int64_t p = 0; p < tokens; ++p) {
      grid8_decode(u8(window.view.codes(kSlot, p)), u8(window.view.scales(kSlot, p)), kDim,
                   &windows[p * kDim]);
    }
    for (std::int64_t j = 0; j < tokens / ratio; ++j) {
      grid4_row_decode(u8(source.view.codes(kSlot, j)), u8(source.view.scales(kSlot, j)), kDim,
                       &rows[j * kDim]);
      grid4_key_decode(u8(source.view.key_codes(kSlot, j)), u8(source.view.key_scales(kSlot, j)), kKey,
                       &keys[j * kKey]);
    }
    EXPECT_EQ(bits(windows), bits(v.bf16("window")));
    EXPECT_EQ(bits(latents), bits(v.bf16("latent")));
    EXPECT_EQ(bits(rows), bits(v.bf16("rows")));
    EXPECT_EQ(bits(keys), bits(v.bf16("keys")));
  }
};

TEST(RememberReference, RatioOneEqualsTheOracle) {
  RememberCase c("remember1", 1);
  c.chunk(0, 20);
  c.expect_all(20);
}

TEST(RememberReference, GroupsOfThreeEqualTheOracle) {
  RememberCase c("remember3", 3);
  c.chunk(0, 41);
  c.expect_all(41);
}

TEST(RememberReference, AGroupMayStraddleAnyChunkBoundary) {
  RememberCase c("remember3", 3);
  std::int64_t first = 0;
  for (const std::int32_t rows : {1, 1, 2, 1, 17, 4, 1, 1, 1, 12}) {
    c.chunk(first, rows);
    first += rows;
  }
  c.expect_all(41);
}

TEST(RememberReference, AGroupMayBeDoneAgainFromItsMiddle) {
  RememberCase c("remember3", 3);
  c.chunk(0, 32);
  c.latents.resize(7 * kDim);  // rolled back to position 22, inside the eighth group
  c.chunk(22, 19);
  c.expect_all(41);
}

TEST(RememberReference, WithoutASourceOnlyTheWindowIsWritten) {
  RememberCase c("remember1", 1);
  const auto before = c.source.bytes;
  c.source.view.pool = nullptr;
  c.source.view.ratio = 0;
  TrialBatch batch({{kSlot, {0}, 0, 2}});
  c.k.resize(batch.rows() * kDim);
  Remember p = {};
  p.batch = batch.view(), p.eps = 1e-20f, p.rope = {c.frequency.data(), 16};
  p.k = rows_of(std::as_const(c.k), kDim), p.k_gain = c.k_gain.data(), p.window = c.window.view;
  Trial().run(kReference.remember, p);
  EXPECT_EQ(c.source.bytes, before);
  std::vector<Bf16> window(2 * kDim), expected = c.v.bf16("window");
  for (std::int64_t t = 0; t < 2; ++t) {
    grid8_decode(u8(c.window.view.codes(kSlot, t)), u8(c.window.view.scales(kSlot, t)), kDim,
                 &window[t * kDim]);
  }
  expected.resize(window.size());
  EXPECT_EQ(bits(window), bits(expected));
}

}  // namespace
}  // namespace manyspan::kernels
