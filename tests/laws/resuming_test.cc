// The law of resuming: saved and restored never left, and the file tells nothing but the tokens' state.
#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "tests/support/spread.h"

namespace manyspan::test {
namespace {

constexpr Limits kLimits{
    .step_rows = 40, .sampled_rows = 40, .sessions = 3, .context = 2048, .spare_window = 20};
constexpr Limits kOtherLimits{
    .step_rows = 33, .sampled_rows = 33, .sessions = 2, .context = 1024, .spare_window = 0};
const SnapshotOrigin kOrigin{.model = 1, .weights = 2, .numerics = "these"};

std::string bytes_at(const std::string& path) { return read_file(path, 1 << 30).value(); }

// Saves at random points, restores into another engine's sessions, and goes on there; then saves again. The
// other has other limits, and as many devices as it is told, cut in another way.
void saved_and_restored_never_left(const LawCase& law, std::int32_t other_devices, int times,
                                   std::int64_t tokens, std::uint64_t seed) {
  const TemporaryFolder folder;
  const std::vector<TokenId> prompt = law_prompt(law.model, 0, tokens);
  LawCase other = law;
  other.devices = other_devices;
  Spread spread(law, kLimits, seed), spread_there(other, kOtherLimits, seed + 1);
  ModelRig &here = spread.rig(), &there = spread_there.rig();
  const std::vector<float> whole = right_logits(law, 0, tokens);
  // Other sessions come first, so that pages and slots are not the same.
  here.extend(here.sessions().open().value(), law_prompt(law.model, 1, 70));
  std::mt19937 random(static_cast<unsigned>(seed));
  for (int i = 0; i < times; ++i) {
    const auto at = static_cast<std::int64_t>(random() % prompt.size());
    SCOPED_TRACE(testing::Message() << "saved at " << at);
    const SessionId left = here.sessions().open().value();
    here.extend(left, std::span(prompt).first(at));
    const std::string path = folder / "session";
    ASSERT_TRUE(here.sessions().snapshot(left, kOrigin, path).ok());
    here.sessions().close(left);

    const SessionId back = there.sessions().restore(kOrigin, path).value();
    ASSERT_EQ(there.sessions().timeline(back).tokens(), std::vector(prompt.begin(), prompt.begin() + at));
    ASSERT_TRUE(there.sessions().snapshot(back, kOrigin, path + "-again").ok());
    EXPECT_EQ(bytes_at(path + "-again"), bytes_at(path));
    const std::vector<float> after = there.extend(back, std::span(prompt).subspan(at));
    EXPECT_EQ(first_difference(logits_between(law, whole, at, tokens), after), -1);
    // It can still be shortened to anything.
    const std::int64_t shorter = at - std::min<std::int64_t>(at, 3);
    ASSERT_TRUE(there.sessions().truncate(back, shorter).ok());
    const std::vector<float> again = there.extend(back, std::span(prompt).subspan(shorter, 1));
    EXPECT_EQ(first_difference(logits_between(law, whole, shorter, shorter + 1), again), -1);
    there.sessions().close(back);
    EXPECT_EQ(there.sessions().pages_used(), 0);
  }
}

// Saved on devices; restored on the host, or on other devices.
void restored_into_another_placement(const LawCase& law, int seeds) {
  for_each_seed(law, seeds, [&](std::uint64_t seed) {
    const std::int32_t devices[] = {0, 2, 3, 5, 8};
    saved_and_restored_never_left(law, devices[(seed + law.devices) % 5], 2, 90, seed);
  });
}

class Resuming : public testing::TestWithParam<LawCase> {};
TEST_P(Resuming, SavedAndRestoredNeverLeft) { saved_and_restored_never_left(GetParam(), 0, 3, 151, 151); }
INSTANTIATE_TEST_SUITE_P(Quick, Resuming, testing::ValuesIn(mostly_fast(quick_law_cases())), law_name);

class ResumingOverDevices : public testing::TestWithParam<LawCase> {};
TEST_P(ResumingOverDevices, SavedAndRestoredInAnotherPlacementNeverLeft) {
  restored_into_another_placement(GetParam(), 1);
}
INSTANTIATE_TEST_SUITE_P(Quick, ResumingOverDevices, testing::ValuesIn(quick_spread_cases()), law_name);

TEST(SavedFiles, DependOnTheTokensAloneNotOnHowTheyWereRun) {
  const LawCase law = paging_case();
  const TemporaryFolder folder;
  const std::vector<TokenId> prompt = law_prompt(law.model, 0, 301);
  ModelRig rig(law.model, {.table = law.table, .limits = kLimits});
  Sessions& sessions = rig.sessions();
  const auto saved = [&](SessionId id) {
    EXPECT_TRUE(sessions.snapshot(id, kOrigin, folder / "session").ok());
    return bytes_at(folder / "session");
  };
  const SessionId plain = sessions.open().value();
  rig.extend(plain, prompt);
  const std::string file = saved(plain);

  const SessionId shortened = sessions.open().value();
  rig.extend(shortened, prompt);
  rig.extend(shortened, law_prompt(law.model, 1, 70));
  ASSERT_TRUE(sessions.truncate(shortened, 301).ok());
  EXPECT_EQ(saved(shortened), file);
  sessions.close(plain);

  ASSERT_TRUE(sessions.truncate(shortened, 250).ok());
  const SessionId forked = sessions.fork(shortened).value();
  rig.extend(shortened, law_prompt(law.model, 1, 5));
  for (std::size_t at = 250; at < 301; ++at) rig.extend(forked, std::span(prompt).subspan(at, 1));
  EXPECT_EQ(saved(forked), file);
}

class ResumingSlow : public testing::TestWithParam<LawCase> {};
TEST_P(ResumingSlow, SavedAndRestoredNeverLeft) {
  const bool strict = GetParam().table == &kernels::kReference;
  saved_and_restored_never_left(GetParam(), 0, strict ? 2 : 5, strict ? 130 : 300, 300);
}
INSTANTIATE_TEST_SUITE_P(Everywhere, ResumingSlow, testing::ValuesIn(mostly_fast(law_cases())), law_name);

class ResumingOverDevicesSlow : public testing::TestWithParam<LawCase> {};
TEST_P(ResumingOverDevicesSlow, SavedAndRestoredInAnotherPlacementNeverLeft) {
  restored_into_another_placement(GetParam(), 2);
}
INSTANTIATE_TEST_SUITE_P(Everywhere, ResumingOverDevicesSlow, testing::ValuesIn(spread_cases()), law_name);

}  // namespace
}  // namespace manyspan::test
