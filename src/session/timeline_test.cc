#include "session/timeline.h"

#include <set>

#include <gtest/gtest.h>

namespace manyspan {
namespace {

// A window of 40 in pages of 32, and a source of ratio 2 in pages of 64 rows; two sessions.
PageGeometry geometry() { return {{{0, 10, 5, 32}, {2, 8, 4, 128}}}; }

std::vector<PageCounts> counts_of(const PageGeometry& g) {
  std::vector<PageCounts> counts;
  for (const PageGeometry::Kind& kind : g.kinds) counts.emplace_back(kind.pages);
  return counts;
}

void extend(Timeline& t, std::int64_t count) {
  ASSERT_TRUE(t.reserve(count).ok());
  t.append(std::vector<TokenId>(count, {7}), std::vector<std::int32_t>(count, 3));
}

TEST(Pages, AreTakenOnceAndRunOut) {
  PageCounts counts(3);
  std::set<std::int32_t> taken;
  for (int i = 0; i < 3; ++i) taken.insert(counts.take().value());
  EXPECT_EQ(taken, (std::set<std::int32_t>{0, 1, 2}));
  EXPECT_EQ(counts.used(), 3);
  EXPECT_EQ(counts.take().error().fault(), Fault::exhausted);
  counts.give_back(1);
  EXPECT_EQ(counts.used(), 2);
  EXPECT_EQ(counts.take().value(), 1);
}

TEST(Timeline, EveryPositionOfTheWindowHasAPageWhateverTheSteps) {
  const PageGeometry g = geometry();
  for (const std::int64_t step : {1, 5, 32, 33, 60}) {
    std::vector<PageCounts> counts = counts_of(g);
    Timeline t(g, counts, 40, 0);
    while (t.length() < 400) {
      ASSERT_TRUE(t.reserve(step).ok());
      // What the queries of this step may look at: the window before them and they themselves.
      for (std::int64_t p = std::max<std::int64_t>(0, t.length() - 39); p < t.length() + step; ++p) {
        EXPECT_GE(t.pages(0)[p / 32 % 5], 0) << "position " << p << ", steps of " << step;
      }
      t.append(std::vector<TokenId>(step, {7}), std::vector<std::int32_t>(step, 3));
    }
    // No more window pages are held than the last 39 positions need.
    EXPECT_LE(counts[0].used(), 3) << "steps of " << step;
    t.reset();
    EXPECT_EQ(counts[0].used() + counts[1].used(), 0);
  }
}

TEST(Timeline, PagesOfTwoSessionsAreDifferent) {
  const PageGeometry g = geometry();
  std::vector<PageCounts> counts = counts_of(g);
  Timeline a(g, counts, 40, 0), b(g, counts, 40, 1);
  extend(a, 60), extend(b, 60);
  for (std::size_t kind = 0; kind < g.kinds.size(); ++kind) {
    for (const std::int32_t page : a.pages(kind)) {
      if (page < 0) continue;
      for (const std::int32_t other : b.pages(kind)) EXPECT_NE(page, other);
    }
  }
}

TEST(Timeline, SourcePagesAreKeptFromTheFirst) {
  const PageGeometry g = geometry();
  std::vector<PageCounts> counts = counts_of(g);
  Timeline t(g, counts, 40, 0);
  for (int i = 0; i < 8; ++i) extend(t, 50);
  EXPECT_EQ(counts[1].used(), 4);  // 400 tokens, 200 rows
  EXPECT_EQ(t.length(), 400);
  EXPECT_EQ(t.classes().size(), 400u);
}

TEST(Timeline, ClosingGivesEveryPageBack) {
  const PageGeometry g = geometry();
  std::vector<PageCounts> counts = counts_of(g);
  {
    Timeline t(g, counts, 40, 0);
    extend(t, 100);
    EXPECT_GT(counts[0].used(), 0);
  }
  EXPECT_EQ(counts[0].used() + counts[1].used(), 0);
}

}  // namespace
}  // namespace manyspan
