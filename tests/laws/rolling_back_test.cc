// The law of rolling back: what was run and undone never happened, however far back it reaches.
#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/spread.h"

namespace manyspan::test {
namespace {

// Steps of at most 40 rows and a spare window of 20 tokens, so that pages are given back and used again.
constexpr Limits kLimits{
    .step_rows = 40, .sampled_rows = 40, .sessions = 2, .context = 2048, .spare_window = 20};

// Long enough that a rollback replays the window over rows that are kept.
std::int64_t past_a_replay(const LawCase& law) {
  const Blueprint& b = checkpoint(law.model).blueprint;
  return b.layers * (b.window - 1) + 100;
}

// One session's life: it grows with the right tokens, runs wrong ones, and takes those and more of the right
// ones back, again and again. Every logit of a right token must be the one of an undisturbed run.
void undone_never_happened(const LawCase& law, int rollbacks, std::int64_t longest, std::uint64_t seed) {
  const std::vector<TokenId> right = law_prompt(law.model, 0, longest), wrong = law_prompt(law.model, 1, 60);
  const std::vector<float> whole = right_logits(law, 0, longest);
  Spread spread(law, kLimits, seed);
  Sessions& sessions = spread.sessions();
  const SessionId id = sessions.open().value();
  std::mt19937 random(static_cast<unsigned>(seed));
  const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % n); };

  int replays = 0;
  for (int i = 0; i < rollbacks; ++i) {
    const std::int64_t held = sessions.timeline(id).length();
    const std::vector<float> more = spread->extend(id, std::span(right).subspan(held));
    ASSERT_EQ(first_difference(logits_between(law, whole, held, longest), more), -1)
        << "rollback " << i << ", to " << held << " tokens";
    const std::int64_t undone = 1 + below(i % 3 == 0 ? 19 : 60);
    spread->extend(id, std::span(wrong).first(undone));
    // Within the spare window, a little past it, or anywhere.
    const std::int64_t back = i % 3 == 0   ? below(20 - undone + 1)
                              : i % 3 == 1 ? below(60)
                                           : below(longest + 1);
    replays += sessions.rerun_for(id, longest - back) > 1 ? 1 : 0;
    ASSERT_TRUE(sessions.truncate(id, longest - back).ok());
    ASSERT_EQ(sessions.timeline(id).length(), longest - back);
  }
  if (rollbacks > 6) {  // else chance need not have met both
    EXPECT_GT(replays, 0);
    EXPECT_LT(replays, rollbacks);
  }
  sessions.close(id);
  EXPECT_EQ(sessions.pages_used(), 0);
}

// Where windows are wide a replay takes too long for many seeds; spread_sessions_test.cc has some.
void undone_over_devices(const LawCase& law, int seeds) {
  const std::int64_t longest = past_a_replay(law);
  for_each_seed(law, seeds, [&](std::uint64_t seed) {
    undone_never_happened(law, 3, longest <= 250 ? longest : 120, seed);
  });
}

class RollingBack : public testing::TestWithParam<LawCase> {};
TEST_P(RollingBack, UndoneTokensNeverHappened) {
  undone_never_happened(GetParam(), 7, past_a_replay(GetParam()), 3);
}
INSTANTIATE_TEST_SUITE_P(Quick, RollingBack, testing::ValuesIn(mostly_fast(quick_law_cases())), law_name);

class RollingBackOverDevices : public testing::TestWithParam<LawCase> {};
TEST_P(RollingBackOverDevices, UndoneTokensNeverHappened) { undone_over_devices(GetParam(), 1); }
INSTANTIATE_TEST_SUITE_P(Quick, RollingBackOverDevices, testing::ValuesIn(quick_spread_cases()), law_name);

TEST(RollingBackCosts, ALongRollbackReplaysAndAShortOneDoesNot) {
  const LawCase law = paging_case();
  ModelRig rig(law.model, {.table = law.table, .limits = kLimits});
  const Blueprint& b = rig.checkpoint().blueprint;
  const std::int64_t longest = past_a_replay(law), replayed = b.layers * (b.window - 1);
  const SessionId id = rig.sessions().open().value();
  for (std::int64_t length = 0; length < longest; ++length) {
    rig.extend(id, {law_prompt(law.model, 0, 1)});
    for (const std::int64_t back : {1, 19, 20}) {
      const std::int64_t shorter = std::max<std::int64_t>(0, length + 1 - back);
      ASSERT_LE(rig.sessions().rerun_for(id, shorter), 1) << length + 1 << " to " << shorter;
    }
  }
  EXPECT_GE(rig.sessions().rerun_for(id, longest - 60), replayed);
  EXPECT_LT(rig.sessions().rerun_for(id, longest - 60), replayed + 32);
  EXPECT_EQ(rig.sessions().rerun_for(id, 20), 20);
  EXPECT_EQ(rig.sessions().rerun_for(id, 0), 0);
}

TEST(RollingBackCosts, AReplayFindsPagesWhenEverySessionIsFull) {
  const LawCase law = paging_case();
  const std::int64_t longest = past_a_replay(law);
  Limits limits = kLimits;
  limits.context = static_cast<std::int32_t>(longest);
  ModelRig rig(law.model, {.table = law.table, .limits = limits});
  const std::vector<TokenId> prompt = law_prompt(law.model, 0, longest);
  const std::vector<float> whole = rig.logits(prompt);
  std::vector<SessionId> full;
  for (int i = 0; i < limits.sessions; ++i) {
    full.push_back(rig.sessions().open().value());
    rig.extend(full.back(), prompt);
  }
  for (const SessionId id : full) {
    const std::int64_t length = longest - 64, vocabulary = rig.checkpoint().blueprint.vocabulary;
    ASSERT_GT(rig.sessions().rerun_for(id, length), 64);
    ASSERT_TRUE(rig.sessions().truncate(id, length).ok());
    const std::vector<float> after = rig.extend(id, std::span(prompt).subspan(length));
    EXPECT_EQ(first_difference({whole.begin() + length * vocabulary, whole.end()}, after), -1);
  }
}

class RollingBackSlow : public testing::TestWithParam<LawCase> {};
TEST_P(RollingBackSlow, UndoneTokensNeverHappened) {
  undone_never_happened(GetParam(), GetParam().thorough ? 24 : 9, past_a_replay(GetParam()), 4);
}
INSTANTIATE_TEST_SUITE_P(Everywhere, RollingBackSlow, testing::ValuesIn(mostly_fast(law_cases())), law_name);

class RollingBackOverDevicesSlow : public testing::TestWithParam<LawCase> {};
TEST_P(RollingBackOverDevicesSlow, UndoneTokensNeverHappened) { undone_over_devices(GetParam(), 2); }
INSTANTIATE_TEST_SUITE_P(Everywhere, RollingBackOverDevicesSlow, testing::ValuesIn(spread_cases()), law_name);

}  // namespace
}  // namespace manyspan::test
