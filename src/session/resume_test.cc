#include "session/resume.h"

#include <gtest/gtest.h>

namespace manyspan {
namespace {

// Four layers, a window of 8, sources of ratio 2 and 1 in layers 1 and 2.
Blueprint small() {
  Blueprint b{};
  b.layers = 4;
  b.window = 8;
  b.compress_ratios = {0, 2, 1, 1};
  b.kv_sources = {1, 2};
  return b;
}

TEST(Resume, NothingRunsAgainWhereWindowAndTailsAreHeld) {
  const Held held{.window_from = 64, .tail_from = 144};
  for (std::int64_t length = 72; length < 160; ++length) {
    const Resume resume = resume_at(held, length, small());
    EXPECT_FALSE(resume.over_rows) << length;
    // A group that is not whole needs its first token's inputs; that token runs again where they are gone.
    EXPECT_EQ(resume.from, length < 144 && length % 2 == 1 ? length - 1 : length);
  }
}

TEST(Resume, AReplayBeginsOneWindowForEachLayerEarlierAtAWholePage) {
  const Held held{.window_from = 640, .tail_from = 700};
  const Resume resume = resume_at(held, 646, small());
  EXPECT_TRUE(resume.over_rows);
  EXPECT_EQ(resume.from, (646 - 4 * 7) / 32 * 32);
  EXPECT_LE(exact_after_replay(resume.from, small()), 646 - 7);
  EXPECT_EQ(replay_cuts(resume.from, small()),
            (std::vector<std::int64_t>{resume.from + 14, resume.from + 21}));
  EXPECT_EQ(resume_at(held, 648, small()).from, 648);  // its window begins at 641
}

TEST(Resume, AShortSessionBeginsAfresh) {
  const Held held{.window_from = 640, .tail_from = 700};
  for (const std::int64_t length : {0, 1, 28, 30, 59}) {
    const Resume resume = resume_at(held, length, small());
    EXPECT_FALSE(resume.over_rows) << length;
    EXPECT_EQ(resume.from, 0) << length;
  }
}

TEST(Resume, ReleasedSizesReplayFortyWindows) {
  Blueprint b{};
  b.layers = 40;
  b.window = 128;
  b.compress_ratios.assign(40, 1);
  for (int l = 0; l < 20; ++l) b.compress_ratios[l] = l < 2 ? 0 : 2;
  b.kv_sources = {2, 8, 14, 20};
  const Resume resume = resume_at({.window_from = 999'000, .tail_from = 999'990}, 500'000, b);
  EXPECT_TRUE(resume.over_rows);
  EXPECT_GE(500'000 - resume.from, 5'080);
  EXPECT_LT(500'000 - resume.from, 5'080 + 32);
}

}  // namespace
}  // namespace manyspan
