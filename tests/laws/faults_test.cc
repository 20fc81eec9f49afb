// The law of faults: a device that fails a step takes only that step's sessions with it. They are told, the
// others go on with the right bits, nothing leaks, and what was taken can be had again.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/spread.h"

namespace manyspan::test {
namespace {

constexpr Limits kLimits{.step_rows = 40, .sampled_rows = 40, .sessions = 4, .context = 256};
constexpr std::int64_t kLongest = 100;

std::vector<LawCase> fast_over_three(std::vector<LawCase> cases) {
  std::vector<LawCase> some;
  for (const LawCase& c : over_devices(std::move(cases))) {
    if (c.table != &kernels::kReference && c.devices == 3) some.push_back(c);
  }
  return some;
}

// Sessions on three devices that are held to the right bits, token by token.
class Faulty {
 public:
  explicit Faulty(const LawCase& law, std::uint64_t seed) : law_(law), spread_(law, kLimits, seed) {}
  ~Faulty() {
    for (const Talk& t : talks_) spread_.sessions().close(t.session);
    EXPECT_EQ(spread_.sessions().pages_used(), 0);
  }

  void open(std::size_t variant) {
    talks_.push_back({variant, law_prompt(law_.model, variant, kLongest), spread_.sessions().open().value()});
  }
  void fork(std::size_t of) {
    talks_.push_back(talks_[of]);
    talks_.back().session = spread_.sessions().fork(talks_[of].session).value();
  }
  void close_last() {
    spread_.sessions().close(talks_.back().session);
    talks_.pop_back();
  }
  void reset(std::size_t i) {
    spread_.sessions().reset(talks_[i].session);
    talks_[i].at = 0;
  }
  std::int64_t left(std::size_t i) const { return kLongest - talks_[i].at; }

  struct Part {
    std::size_t talk;
    std::int64_t count;
  };
  // One step. An error comes back; wrong bits are a failure of the test.
  Result<void> step(const std::vector<Part>& parts) {
    std::vector<Sessions::Piece> pieces;
    std::vector<float> right;
    for (const Part& p : parts) {
      Talk& t = talks_[p.talk];
      pieces.push_back({t.session, std::span(t.prompt).subspan(t.at, p.count), Sessions::Want::all, {}});
      const std::vector<float> rows =
          logits_between(law_, right_logits(law_, t.variant, kLongest), t.at, t.at + p.count);
      right.insert(right.end(), rows.begin(), rows.end());
    }
    const auto out = TRY(spread_.sessions().step(pieces, true));
    EXPECT_EQ(first_difference(right, {out.logits.data, out.logits.data + out.logits.rows * out.logits.cols}),
              -1);
    for (const Part& p : parts) talks_[p.talk].at += p.count;
    return {};
  }
  SimWorld& world() { return spread_.world(); }

 private:
  struct Talk {
    std::size_t variant;
    std::vector<TokenId> prompt;
    SessionId session;
    std::int64_t at = 0;
  };
  LawCase law_;
  Spread spread_;
  std::vector<Talk> talks_;
};

std::int64_t operations(const SimWorld::Counts& c) { return c.operations_main + c.operations_side; }

// Sessions 0 and 1 are in the failing step; 2 and its fork 3, made just before, are not.
void only_the_steps_sessions_are_lost(const LawCase& law, std::uint64_t seed, std::int64_t every) {
  Faulty faulty(law, seed);
  for (const std::size_t variant : {0, 1, 2}) faulty.open(variant);
  for (int d = 0; d < law.devices; ++d) {
    const std::int64_t before = operations(faulty.world().counts(d));
    ASSERT_TRUE(faulty.step({{0, 5}, {1, 3}}).ok());
    const std::int64_t count = operations(faulty.world().counts(d)) - before;
    ASSERT_GT(count, 10);
    faulty.reset(0), faulty.reset(1);
    for (std::int64_t k = static_cast<std::int64_t>(seed) % every; k < count; k += every) {
      SCOPED_TRACE(testing::Message() << "operation " << k << " of device " << d);
      if (faulty.left(2) < 4) faulty.reset(2);
      ASSERT_TRUE(faulty.step({{2, 1}}).ok());
      faulty.fork(2);
      faulty.world().fail_operation(d, k);
      const Result<void> done = faulty.step({{0, 5}, {1, 3}});
      ASSERT_FALSE(done.ok());
      EXPECT_EQ(done.error().fault(), Fault::device_lost);
      EXPECT_NE(done.error().message().find("fails as it was told to"), std::string::npos);
      ASSERT_TRUE(faulty.step({{2, 1}}).ok());
      ASSERT_TRUE(faulty.step({{3, 2}}).ok());
      faulty.reset(0), faulty.reset(1);
      ASSERT_TRUE(faulty.step({{1, 6}, {2, 1}, {0, 4}}).ok());
      faulty.close_last();
      faulty.reset(0), faulty.reset(1);
    }
  }
}

void a_late_copy_changes_nothing(const LawCase& law, std::uint64_t seed, std::int64_t every) {
  Faulty faulty(law, seed);
  for (const std::size_t variant : {0, 1}) faulty.open(variant);
  for (int d = 0; d < law.devices; ++d) {
    const std::int64_t before = faulty.world().counts(d).copies;
    ASSERT_TRUE(faulty.step({{0, 5}, {1, 3}}).ok());
    const std::int64_t count = faulty.world().counts(d).copies - before;
    for (std::int64_t k = static_cast<std::int64_t>(seed) % every; k < count; k += every) {
      if (std::min(faulty.left(0), faulty.left(1)) < 3) faulty.reset(0), faulty.reset(1);
      faulty.world().delay_copy(d, k);
      ASSERT_TRUE(faulty.step({{0, 1}, {1, 2}}).ok()) << "copy " << k << " of device " << d;
    }
    faulty.reset(0), faulty.reset(1);
  }
}

// Opens the model, from the first weight to the last page, with one allocation refused (-1: none), and closes
// it.
struct Opened {
  Result<void> done;
  std::int64_t allocations, left;
};
Opened open_and_close(const LawCase& law, std::int64_t refused) {
  const std::int32_t layers = checkpoint(law.model).blueprint.layers;
  auto world = SimWorld::create({.devices = 3}).value();
  if (refused >= 0) world->refuse_allocation(refused);
  Opened opened{{}, 0, 0};
  {
    const auto rig = ModelRig::open(law.model, {.table = law.table,
                                                .limits = kLimits,
                                                .threads = 1,
                                                .placement = cut_at({layers / 3, 2 * layers / 3, layers}),
                                                .world = world.get()});
    if (!rig.ok()) opened.done = rig.error();
  }
  for (int d = 0; d < 3; ++d) opened.allocations += world->counts(d).allocations;
  opened.left = world->live_buffers();
  return opened;
}

void a_refusal_is_told_and_leaks_nothing(const LawCase& law, std::int64_t every) {
  const Opened whole = open_and_close(law, -1);
  ASSERT_TRUE(whole.done.ok());
  ASSERT_EQ(whole.left, 0);
  ASSERT_GT(whole.allocations, 100);
  for (std::int64_t k = 0; k < whole.allocations; k += every) {
    const Opened opened = open_and_close(law, k);
    ASSERT_FALSE(opened.done.ok()) << "allocation " << k;
    ASSERT_EQ(opened.done.error().fault(), Fault::exhausted) << "allocation " << k;
    ASSERT_EQ(opened.left, 0) << "allocation " << k;
  }
}

class Faults : public testing::TestWithParam<LawCase> {};
TEST_P(Faults, TakeOnlyTheSessionsOfTheirStep) { only_the_steps_sessions_are_lost(GetParam(), 1, 37); }
TEST_P(Faults, ALateCopyChangesNothing) { a_late_copy_changes_nothing(GetParam(), 2, 11); }
TEST_P(Faults, ARefusedAllocationIsToldAndLeaksNothing) {
  a_refusal_is_told_and_leaks_nothing(GetParam(), 97);
}
INSTANTIATE_TEST_SUITE_P(Quick, Faults, testing::ValuesIn(fast_over_three({paging_case()})), law_name);

class FaultsSlow : public testing::TestWithParam<LawCase> {};
TEST_P(FaultsSlow, AtAnyOperationTakeOnlyTheSessionsOfTheirStep) {
  only_the_steps_sessions_are_lost(GetParam(), 3, 1);
}
TEST_P(FaultsSlow, AnyLateCopyChangesNothing) { a_late_copy_changes_nothing(GetParam(), 4, 1); }
TEST_P(FaultsSlow, AnyRefusedAllocationIsToldAndLeaksNothing) {
  a_refusal_is_told_and_leaks_nothing(GetParam(), 1);
}
INSTANTIATE_TEST_SUITE_P(Everywhere, FaultsSlow, testing::ValuesIn(fast_over_three(quick_law_cases())),
                         law_name);

}  // namespace
}  // namespace manyspan::test
