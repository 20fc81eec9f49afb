// The laws of rolling back, forking and resuming, over several devices whose queues run late: the doors to
// pages and tails reach every copy of a part, in order with the steps, and a snapshot fits any placement.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "tests/support/spread.h"

namespace manyspan::test {
namespace {

constexpr Limits kLimits{
    .step_rows = 40, .sampled_rows = 40, .sessions = 3, .context = 1024, .spare_window = 20};
const SnapshotOrigin kOrigin{.model = 1, .weights = 2, .numerics = "these"};

// Two devices, each visited twice: sources and their readers lie on both.
Placement two_laps(std::int32_t layers) {
  const std::int32_t quarter = layers / 4;
  return {.stages = {{0, {{{0, quarter}, {2 * quarter, 3 * quarter}}}},
                     {1, {{{quarter, 2 * quarter}, {3 * quarter, layers}}}}}};
}

class TwoLaps : public Spread {
 public:
  TwoLaps(LawCase law, std::uint64_t seed)
      : Spread((law.devices = 2, law), kLimits, seed,
               two_laps(test::checkpoint(law.model).blueprint.layers)) {}
};

struct Right {
  Right(const LawCase& law, std::int64_t tokens)
      : prompt(law_prompt(law.model, 0, tokens)),
        logits(ModelRig(law.model, {.table = law.table}).logits(prompt)),
        vocabulary(checkpoint(law.model).blueprint.vocabulary) {}

  // Goes on with the right tokens up to `end`, which must give the right logits.
  void expect_onward(ModelRig& rig, SessionId id, std::int64_t end) const {
    const std::int64_t from = rig.sessions().timeline(id).length();
    const std::vector<float> more = rig.extend(id, std::span(prompt).subspan(from, end - from));
    EXPECT_EQ(first_difference({logits.begin() + from * vocabulary, logits.begin() + end * vocabulary}, more),
              -1)
        << "from " << from;
  }

  std::vector<TokenId> prompt;
  std::vector<float> logits;
  std::int64_t vocabulary;
};

class SpreadSessions : public testing::TestWithParam<LawCase> {};

TEST_P(SpreadSessions, ForkShortenAndReplayAsOnOneDevice) {
  const Blueprint& b = checkpoint(GetParam().model).blueprint;
  const std::int64_t longest = b.layers * (b.window - 1) + 100;
  const Right right(GetParam(), longest);
  for (const std::uint64_t seed : {1, 2}) {
    SCOPED_TRACE(seed);
    TwoLaps spread(GetParam(), seed);
    Sessions& sessions = spread.rig().sessions();
    const SessionId one = sessions.open().value();
    right.expect_onward(spread.rig(), one, longest - 25);
    const SessionId two = sessions.fork(one).value();
    spread.rig().extend(one, law_prompt(GetParam().model, 1, 23));
    spread.rig().extend(two, law_prompt(GetParam().model, 2, 7));
    ASSERT_GT(sessions.rerun_for(one, longest - 71), 71);
    ASSERT_TRUE(sessions.truncate(one, longest - 71).ok());
    ASSERT_LE(sessions.rerun_for(two, longest - 32), 1);
    ASSERT_TRUE(sessions.truncate(two, longest - 32).ok());
    right.expect_onward(spread.rig(), two, longest - 3);
    right.expect_onward(spread.rig(), one, longest);
    sessions.close(one);
    right.expect_onward(spread.rig(), two, longest);
    sessions.close(two);
    EXPECT_EQ(sessions.pages_used(), 0);
  }
}

TEST_P(SpreadSessions, ASnapshotIsThatOfOneDeviceAndFitsEitherPlacement) {
  const TemporaryFolder folder;
  const Right right(GetParam(), 141);
  ModelRig alone(GetParam().model, {.table = GetParam().table, .limits = kLimits});
  TwoLaps spread(GetParam(), 3);
  std::vector<std::string> files;
  for (ModelRig* rig : {&alone, &spread.rig()}) {
    const SessionId id = rig->sessions().open().value();
    right.expect_onward(*rig, id, 117);
    ASSERT_TRUE(rig->sessions().snapshot(id, kOrigin, folder / "session").ok());
    files.push_back(read_file(folder / "session", 1 << 24).value());
    rig->sessions().close(id);
  }
  EXPECT_EQ(files[0], files[1]);
  for (ModelRig* rig : {&alone, &spread.rig()}) {
    const SessionId id = rig->sessions().restore(kOrigin, folder / "session").value();
    right.expect_onward(*rig, id, 141);
    rig->sessions().close(id);
    EXPECT_EQ(rig->sessions().pages_used(), 0);
  }
}

TEST(BrokenDevice, AReplayThatADeviceBreaksOffLeavesAnEmptySessionAndNoPages) {
  const LawCase law = paging_case();
  const Blueprint& b = checkpoint(law.model).blueprint;
  const Right right(law, b.layers * (b.window - 1) + 100);
  const std::int64_t longest = std::ssize(right.prompt);
  TwoLaps spread(law, 4);
  Sessions& sessions = spread.rig().sessions();
  const SessionId other = sessions.open().value(), broken = sessions.open().value();
  right.expect_onward(spread.rig(), other, 60);
  const std::int32_t before = sessions.pages_used();
  for (const std::int64_t after : {0, 40, 400}) {
    right.expect_onward(spread.rig(), broken, longest);
    spread.world().fail_operation(1, after);
    const auto done = sessions.truncate(broken, longest - 60);
    ASSERT_FALSE(done.ok()) << after;
    EXPECT_EQ(done.error().fault(), Fault::device_lost);
    EXPECT_EQ(sessions.timeline(broken).length(), 0);
    EXPECT_EQ(sessions.pages_used(), before);
  }
  right.expect_onward(spread.rig(), other, 90);
}

std::vector<LawCase> fast_only() {
  std::vector<LawCase> cases = quick_law_cases();
  std::erase_if(cases, [](const LawCase& c) { return c.table == &kernels::kReference; });
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Quick, SpreadSessions, testing::ValuesIn(fast_only()), law_name);

}  // namespace
}  // namespace manyspan::test
