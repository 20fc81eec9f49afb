// Does `strict` give the oracle's numbers, logits and intermediates, on the small random checkpoints?
#include "tests/support/golden.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/engine.h"
#include "engine/taps.h"
#include "tests/support/model_rig.h"

namespace manyspan::test {
namespace {

// Rows must be equal, but for libm: up to 1e-4 of a row's largest logit, and 99 % of rows exactly.
void expect_rows_equal(const std::vector<float>& actual, const std::vector<float>& expected,
                       std::int64_t width) {
  ASSERT_EQ(actual.size(), expected.size());
  const std::int64_t rows = static_cast<std::int64_t>(actual.size()) / width;
  std::int64_t exact = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    float largest = 0, apart = 0;
    bool finite = true;
    for (std::int64_t i = r * width; i < (r + 1) * width; ++i) {
      largest = std::max(largest, std::abs(expected[i]));
      apart = std::max(apart, std::abs(expected[i] - actual[i]));
      finite = finite && std::isfinite(actual[i]);
    }
    EXPECT_TRUE(finite) << "row " << r;
    EXPECT_LE(apart, 1e-4f * largest) << "row " << r;
    exact += finite && apart == 0;
  }
  EXPECT_GE(exact * 100, rows * 99) << exact << " of " << rows << " rows exactly equal";
}

// Bytes must be equal; f32 may differ in the last bit, as libm's exp and pow do.
void expect_tap_equal(const std::string& key, const Logits::Tap& tap, const StoredTensor& t, Bytes golden,
                      bool last_rows_only) {
  const std::size_t unit = tap_bytes(tap.type);
  std::size_t skipped = 0;  // t3 keeps the last rows only
  ASSERT_EQ(std::vector(t.shape.begin() + 1, t.shape.end()),
            std::vector(tap.shape.begin() + 1, tap.shape.end()))
      << key << " " << described(t);
  if (last_rows_only && golden.size() < tap.bytes.size()) skipped = tap.bytes.size() - golden.size();
  ASSERT_EQ(golden.size() + skipped, tap.bytes.size()) << key << " " << described(t);
  std::size_t unequal = 0;
  for (std::size_t at = 0; at < golden.size(); at += unit) {
    if (std::memcmp(golden.data() + at, tap.bytes.data() + skipped + at, unit) == 0) continue;
    if (tap.type == TapType::f32) {
      float a, b;
      std::memcpy(&a, golden.data() + at, 4), std::memcpy(&b, tap.bytes.data() + skipped + at, 4);
      if (std::abs(a - b) <= 1.2e-7f * std::abs(a)) continue;
    }
    ++unequal;
  }
  EXPECT_EQ(unequal, 0u) << key << ": " << unequal << " of " << golden.size() / unit << " elements differ";
}

class Goldens : public testing::TestWithParam<const char*> {};

TEST_P(Goldens, StrictReproducesLogitsAndEveryStoredTap) {
  const std::string folder = data_path(GetParam());
  const Golden golden(folder);
  auto engine =
      Engine::open({.model = folder, .numerics = Numerics::strict, .step_rows = 256, .every_logit = true});
  ASSERT_TRUE(engine.ok()) << engine.error().message();
  const Schedule schedule = schedule_of(engine.value()->blueprint());
  LogitsRequest request{.ids = golden.ids(),
                        .prompt = golden.prompt(),
                        .taps = tap_keys(engine.value()->blueprint(), schedule)};
  const auto logits = engine.value()->logits(request);
  ASSERT_TRUE(logits.ok()) << logits.error().message();
  const Logits& out = logits.value();

  std::size_t compared = 0;
  for (const auto& [key, tap] : out.taps) {
    const StoredTensor* t = golden.tensors().find(key);
    if (t == nullptr) continue;
    expect_tap_equal(key, tap, *t, golden.tensors().bytes(*t), std::string(GetParam()) == "t3_long");
    ++compared;
  }
  std::size_t stored = 0;  // taps of the golden file that are ours to give
  for (const StoredTensor& t : golden.tensors().tensors()) {
    stored += t.name[0] == 'L' || t.name == "x_out" || t.name == "pre_out" || t.name == "final_norm" ||
              t.name == "main_hidden";
  }
  EXPECT_EQ(compared, stored);
  expect_rows_equal(out.prefill, golden.floats("prefill.logits"), out.vocabulary);
  expect_rows_equal(out.decode, golden.floats("decode.logits"), out.vocabulary);
}

INSTANTIATE_TEST_SUITE_P(Tiny, Goldens, testing::Values("t1_base", "t2_multi", "t3_long"));

}  // namespace
}  // namespace manyspan::test
