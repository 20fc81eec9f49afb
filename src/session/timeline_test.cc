#include "session/timeline.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

namespace manyspan {
namespace {

// A window of 40 in pages of 32, and a source of ratio 2 in pages of 64 rows; two sessions.
PageGeometry geometry() { return {{{0, 10, 5, 32}, {2, 8, 4, 128}}, 39}; }

std::vector<PageCounts> counts_of(const PageGeometry& g) {
  std::vector<PageCounts> counts;
  for (const PageGeometry::Kind& kind : g.kinds) counts.emplace_back(kind.pages);
  return counts;
}

// Returns the pages that had to be copied first.
std::vector<PageCopy> extend(Timeline& t, std::int64_t count) {
  std::vector<PageCopy> copies;
  EXPECT_TRUE(t.reserve(count, copies).ok());
  t.append(std::vector<TokenId>(count, {7}), std::vector<std::int32_t>(count, 3));
  return copies;
}

std::int32_t used(const std::vector<PageCounts>& counts) {
  std::int32_t all = 0;
  for (const PageCounts& c : counts) all += c.used();
  return all;
}

std::vector<std::int32_t> table(const Timeline& t, std::size_t kind) {
  return {t.pages(kind).begin(), t.pages(kind).end()};
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

TEST(Pages, AreFreeWhenTheLastReferenceIsGivenBack) {
  PageCounts counts(2);
  const std::int32_t page = counts.take().value();
  EXPECT_FALSE(counts.shared(page));
  counts.share(page);
  EXPECT_TRUE(counts.shared(page));
  EXPECT_EQ(counts.used(), 1);
  counts.give_back(page);
  EXPECT_FALSE(counts.shared(page));
  EXPECT_EQ(counts.used(), 1);
  counts.give_back(page);
  EXPECT_EQ(counts.used(), 0);
}

TEST(Timeline, EveryPositionOfTheWindowHasAPageWhateverTheSteps) {
  const PageGeometry g = geometry();
  for (const std::int64_t step : {1, 5, 32, 33, 60}) {
    std::vector<PageCounts> counts = counts_of(g);
    Timeline t(g, counts, 40, 0);
    while (t.length() < 400) {
      std::vector<PageCopy> copies;
      ASSERT_TRUE(t.reserve(step, copies).ok());
      ASSERT_TRUE(copies.empty()) << "nobody else holds these pages";
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

TEST(Timeline, ForgettingDropsWholePagesPastTheEndAndKeepsThePartlyValid) {
  PageGeometry g = geometry();
  g.window_tokens = 39 + 64;
  for (const std::int64_t length : {0, 1, 31, 32, 33, 64, 70, 90}) {
    std::vector<PageCounts> counts = counts_of(g);
    Timeline t(g, counts, 40, 0);
    extend(t, 100);
    t.forget(length);
    EXPECT_EQ(t.length(), length);
    EXPECT_EQ(counts[0].used(), (length + 31) / 32) << length;
    EXPECT_EQ(counts[1].used(), (length + 127) / 128) << length;
    extend(t, 10);
    EXPECT_EQ(t.length(), length + 10);
  }
}

TEST(Timeline, TheSpareWindowIsKeptAndNoMore) {
  const PageGeometry g{{{0, 10, 10, 32}}, 39 + 64};
  std::vector<PageCounts> counts = counts_of(g);
  Timeline t(g, counts, 40, 0);
  while (t.length() < 1000) {
    extend(t, 1);
    const std::int64_t needed = std::max<std::int64_t>(0, t.length() - 64 - 39);
    ASSERT_LE(t.held().window_from, needed);
    ASSERT_GT(t.held().window_from, needed - 32);
    ASSERT_EQ(counts[0].used(), (t.length() + 31) / 32 - t.held().window_from / 32);
  }
}

TEST(Timeline, ForkedSidesCopyThePageThatTheyWriteAndShareTheRest) {
  const PageGeometry g = geometry();
  std::vector<PageCounts> counts = counts_of(g);
  Timeline a(g, counts, 40, 0), b(g, counts, 40, 1);
  extend(a, 50);
  const std::int32_t alone = used(counts);
  b.share(a);
  EXPECT_EQ(used(counts), alone);
  EXPECT_EQ(b.tokens(), a.tokens());
  EXPECT_EQ(table(b, 0), table(a, 0));
  const std::vector<std::int32_t> window = table(a, 0), rows = table(a, 1);
  const std::vector<PageCopy> copies = extend(b, 1);
  ASSERT_EQ(copies.size(), 2u);  // one for each kind
  EXPECT_EQ(copies[0].from, window[1]);
  EXPECT_EQ(copies[0].to, b.pages(0)[1]);
  EXPECT_EQ(copies[1].from, rows[0]);
  EXPECT_EQ(table(a, 0), window);
  EXPECT_EQ(b.pages(0)[0], window[0]);
  EXPECT_EQ(used(counts), alone + 2);
  EXPECT_TRUE(extend(a, 1).empty()) << "nobody else holds them any more";
  a.reset();
  b.reset();
  EXPECT_EQ(used(counts), 0);
}

TEST(Timeline, AReplayLeavesTheKeptRowsPagesAsTheyWere) {
  const PageGeometry g = geometry();
  std::vector<PageCounts> counts = counts_of(g);
  Timeline t(g, counts, 40, 0);
  for (int i = 0; i < 8; ++i) extend(t, 50);
  t.forget(390);
  const std::vector<std::int32_t> rows = table(t, 1);
  ASSERT_TRUE(t.begin_replay(224).ok());
  EXPECT_EQ(t.length(), 224);
  while (t.length() < 390) {
    // Every page that this step writes is a copy.
    const std::int64_t first = t.length() / 128, count = std::min<std::int64_t>(50, 390 - t.length());
    for (const PageCopy& copy : extend(t, count)) {
      EXPECT_EQ(copy.kind, 1u);
      EXPECT_NE(std::find(rows.begin(), rows.end(), copy.from), rows.end());
      EXPECT_EQ(std::find(rows.begin(), rows.end(), copy.to), rows.end());
    }
    for (std::int64_t page = first; page <= (t.length() - 1) / 128; ++page)
      EXPECT_NE(t.pages(1)[page], rows[page]);
    t.put_back();
    EXPECT_EQ(table(t, 1), rows);
  }
  t.end_replay(351);
  EXPECT_EQ(table(t, 1), rows);
  EXPECT_EQ(t.held().window_from, 351);
  EXPECT_EQ(counts[0].used(), 3);  // positions 320 to 389
  EXPECT_EQ(counts[1].used(), 4);
  EXPECT_TRUE(extend(t, 1).empty()) << "the rows' pages are the session's own again";
  t.reset();
  EXPECT_EQ(used(counts), 0);
}

TEST(Timeline, AReplayThatIsBrokenOffGivesEverythingBack) {
  const PageGeometry g = geometry();
  std::vector<PageCounts> counts = counts_of(g);
  Timeline t(g, counts, 40, 0);
  for (int i = 0; i < 8; ++i) extend(t, 50);
  ASSERT_TRUE(t.begin_replay(224).ok());
  extend(t, 40);
  t.reset();
  EXPECT_EQ(used(counts), 0);
}

}  // namespace
}  // namespace manyspan
