// The law of forking: two sides of a fork share what was, and each goes on as if it had been alone.
#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/spread.h"

namespace manyspan::test {
namespace {

constexpr Limits kLimits{
    .step_rows = 40, .sampled_rows = 40, .sessions = 5, .context = 2048, .spare_window = 20};

// A session, what it holds, and the logits that it gave since it came to be.
struct Branch {
  SessionId session;
  std::vector<TokenId> tokens;
  std::int64_t forked_at = 0;
  std::vector<float> logits{};
};

class Tree {
 public:
  Tree(const LawCase& law, std::uint64_t seed)
      : law_(law), spread_(law, kLimits, seed), random_(static_cast<unsigned>(seed)) {
    branches_.push_back({rig().sessions().open().value(), {}});
  }

  ModelRig& rig() { return spread_.rig(); }
  Branch& branch(std::size_t i) { return branches_[i]; }

  void grow(std::size_t i, std::int64_t count) {
    const std::vector<TokenId> more = law_prompt(law_.model, 100 + random_() % 1000, count);
    Branch& b = branches_[i];
    const std::vector<float> logits = rig().extend(b.session, more);
    b.tokens.insert(b.tokens.end(), more.begin(), more.end());
    b.logits.insert(b.logits.end(), logits.begin(), logits.end());
  }
  void fork(std::size_t i) {
    const std::int32_t before = rig().sessions().pages_used();
    const SessionId session = rig().sessions().fork(branches_[i].session).value();
    EXPECT_EQ(rig().sessions().pages_used(), before) << "a fork takes no page";
    branches_.push_back({session, branches_[i].tokens, std::ssize(branches_[i].tokens)});
  }
  void shorten(std::size_t i, std::int64_t length) {
    Branch& b = branches_[i];
    ASSERT_TRUE(rig().sessions().truncate(b.session, length).ok());
    b.tokens.resize(length);
    b.forked_at = std::min(b.forked_at, length);
    const std::int64_t vocabulary = rig().checkpoint().blueprint.vocabulary;
    b.logits.resize((length - b.forked_at) * vocabulary);
  }
  // Every branch gave, since it was forked, the bits that its tokens give alone.
  void expect_independent() {
    ModelRig alone(law_.model, {.table = law_.table});
    const std::int64_t vocabulary = rig().checkpoint().blueprint.vocabulary;
    for (std::size_t i = 0; i < branches_.size(); ++i) {
      const std::vector<float> whole = alone.logits(branches_[i].tokens);
      const auto from = whole.begin() + branches_[i].forked_at * vocabulary;
      EXPECT_EQ(first_difference({from, whole.end()}, branches_[i].logits), -1) << "branch " << i;
    }
  }

 private:
  LawCase law_;
  Spread spread_;
  std::mt19937 random_;
  std::vector<Branch> branches_;
};

// Forks inside pages and groups, and where they end; the sides grow by turns, and one is shortened below the
// fork.
void sides_are_independent(const LawCase& law, std::int64_t prefix, std::uint64_t seed) {
  Tree tree(law, seed);
  tree.grow(0, prefix);
  tree.fork(0);
  for (const std::int64_t count : {1, 2, 30}) tree.grow(0, count), tree.grow(1, count + 1);
  tree.fork(1);
  tree.grow(2, 3);
  tree.grow(1, 1);
  tree.shorten(0, prefix - std::min<std::int64_t>(prefix, 7));
  tree.grow(0, 12);
  tree.grow(2, 1);
  tree.expect_independent();
  for (const std::size_t i : {1, 0, 2}) tree.rig().sessions().close(tree.branch(i).session);
  EXPECT_EQ(tree.rig().sessions().pages_used(), 0);
}

void sides_over_devices(const LawCase& law, int seeds) {
  for_each_seed(law, seeds, [&](std::uint64_t seed) {
    sides_are_independent(law, static_cast<std::int64_t>(std::mt19937(static_cast<unsigned>(seed))() % 100),
                          seed);
  });
}

class Forking : public testing::TestWithParam<LawCase> {};
TEST_P(Forking, EachSideGoesOnAsIfItWereAlone) { sides_are_independent(GetParam(), 77, 77); }
INSTANTIATE_TEST_SUITE_P(Quick, Forking, testing::ValuesIn(mostly_fast(quick_law_cases())), law_name);

class ForkingOverDevices : public testing::TestWithParam<LawCase> {};
TEST_P(ForkingOverDevices, EachSideGoesOnAsIfItWereAlone) { sides_over_devices(GetParam(), 1); }
INSTANTIATE_TEST_SUITE_P(Quick, ForkingOverDevices, testing::ValuesIn(quick_spread_cases()), law_name);

TEST(ForkedPages, SidesShareEveryPageThatNeitherWrites) {
  Tree tree(paging_case(), 1);
  Sessions& sessions = tree.rig().sessions();
  tree.grow(0, 301);
  tree.fork(0);
  const std::int32_t before = sessions.pages_used();
  const auto kinds =
      static_cast<std::int32_t>(PageGeometry::of(tree.rig().checkpoint().blueprint, kLimits).kinds.size());
  tree.grow(1, 1);
  EXPECT_EQ(sessions.pages_used(), before + kinds)
      << "the side that writes copies the last page of each kind";
  tree.grow(0, 1);
  EXPECT_EQ(sessions.pages_used(), before + kinds) << "the other writes to what is its own now";
  sessions.close(tree.branch(0).session);
  tree.grow(1, 5);
  sessions.reset(tree.branch(1).session);
  EXPECT_EQ(sessions.pages_used(), 0);
}

TEST(ForkedPages, OneSideIsReplayedWithoutTheOthersRowsChanging) {
  const Blueprint& b = checkpoint(paging_case().model).blueprint;
  const std::int64_t longest = b.layers * (b.window - 1) + 100;
  Tree tree(paging_case(), 2);
  tree.grow(0, longest);
  tree.fork(0);
  ASSERT_GT(tree.rig().sessions().rerun_for(tree.branch(1).session, longest - 50), 50);
  tree.shorten(1, longest - 50);
  tree.grow(1, 30);
  tree.grow(0, 30);
  tree.expect_independent();
}

TEST(ForkedPages, WithoutAFreeSlotItIsRefusedAndNothingChanges) {
  Tree tree(paging_case(), 3);
  tree.grow(0, 40);
  Sessions& sessions = tree.rig().sessions();
  while (sessions.open().ok()) {
  }
  const std::int32_t before = sessions.pages_used();
  EXPECT_EQ(sessions.fork(tree.branch(0).session).error().fault(), Fault::exhausted);
  EXPECT_EQ(sessions.pages_used(), before);
}

class ForkingSlow : public testing::TestWithParam<LawCase> {};
TEST_P(ForkingSlow, EachSideGoesOnAsIfItWereAlone) {
  for (const std::int64_t prefix : {0, 1, 31, 32, 64, 127, 128, 129, 203}) {
    if (GetParam().table == &kernels::kReference && prefix > 64) continue;  // slow, and the same pages
    sides_are_independent(GetParam(), prefix, static_cast<std::uint64_t>(prefix));
  }
}
INSTANTIATE_TEST_SUITE_P(Everywhere, ForkingSlow, testing::ValuesIn(mostly_fast(law_cases())), law_name);

class ForkingOverDevicesSlow : public testing::TestWithParam<LawCase> {};
TEST_P(ForkingOverDevicesSlow, EachSideGoesOnAsIfItWereAlone) { sides_over_devices(GetParam(), 2); }
INSTANTIATE_TEST_SUITE_P(Everywhere, ForkingOverDevicesSlow, testing::ValuesIn(spread_cases()), law_name);

}  // namespace
}  // namespace manyspan::test
