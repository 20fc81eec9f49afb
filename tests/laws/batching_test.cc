// The law of batching: together is as alone. Sessions join and leave, prefill in pieces and decode, in one
// step's rows.
#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/spread.h"

namespace manyspan::test {
namespace {

constexpr Limits kLimits{.step_rows = 96, .sampled_rows = 96, .sessions = 16, .context = 256};

struct Conversation {
  std::vector<TokenId> tokens;
  SessionId session{0};
  std::size_t at = 0;
  std::vector<float> logits{};
};

// Conversations start at different steps; each step takes a random piece of some of those that are open.
void together_is_as_alone(const LawCase& law, std::size_t sessions, std::int64_t longest,
                          std::uint64_t seed) {
  Spread spread(law, kLimits, seed);
  std::mt19937 random(static_cast<unsigned>(seed));
  std::vector<Conversation> all(sessions);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].tokens = law_prompt(law.model, i, 3 + static_cast<std::int64_t>(random() % (longest - 2)));
  }
  for (std::size_t step = 0;
       std::any_of(all.begin(), all.end(), [](auto& c) { return c.at < c.tokens.size(); }); ++step) {
    std::vector<Sessions::Piece> pieces;
    std::vector<Conversation*> taking;
    std::size_t room = kLimits.step_rows;
    for (std::size_t i = 0; i < all.size(); ++i) {
      Conversation& c = all[i];
      if (step < i / 2 || c.at == c.tokens.size() || room == 0 || random() % 4 == 0) continue;
      if (c.at == 0) c.session = spread.sessions().open().value();
      const std::size_t wanted = random() % 2 == 0 ? 1 : 1 + random() % 30;
      const std::size_t count = std::min({c.tokens.size() - c.at, wanted, room});
      room -= count;
      pieces.push_back({c.session, std::span(c.tokens).subspan(c.at, count), Sessions::Want::all, {}});
      taking.push_back(&c);
    }
    if (pieces.empty()) continue;
    std::shuffle(pieces.begin(), pieces.end(), random);
    const auto out = spread.sessions().step(pieces, true).value().logits;
    std::int64_t row = 0;
    for (const Sessions::Piece& p : pieces) {
      auto& c = **std::find_if(taking.begin(), taking.end(),
                               [&](const Conversation* c) { return c->session == p.session; });
      const auto rows = static_cast<std::int64_t>(p.tokens.size());
      c.logits.insert(c.logits.end(), out.row(row), out.row(row) + rows * out.cols);
      c.at += p.tokens.size();
      row += rows;
      if (c.at == c.tokens.size()) spread.sessions().close(c.session);
    }
  }
  EXPECT_EQ(spread.sessions().pages_used(), 0) << "pages of closed sessions are given back";
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(first_difference(right_logits(law, i, std::ssize(all[i].tokens)), all[i].logits), -1)
        << "session " << i;
  }
}

void together_over_devices(const LawCase& law, int seeds) {
  for_each_seed(law, seeds, [&](std::uint64_t seed) {
    std::mt19937 random(static_cast<unsigned>(seed + 1));
    together_is_as_alone(law, 1 + random() % 16, 40, seed);
  });
}

class Batching : public testing::TestWithParam<LawCase> {};
TEST_P(Batching, SessionsInOneStepGetTheBitsThatTheyGetAlone) { together_is_as_alone(GetParam(), 3, 80, 5); }
INSTANTIATE_TEST_SUITE_P(Quick, Batching, testing::ValuesIn(mostly_fast(quick_law_cases())), law_name);

class BatchingOverDevices : public testing::TestWithParam<LawCase> {};
TEST_P(BatchingOverDevices, SessionsInOneStepGetTheBitsThatTheyGetAlone) {
  together_over_devices(GetParam(), 1);
}
INSTANTIATE_TEST_SUITE_P(Quick, BatchingOverDevices, testing::ValuesIn(quick_spread_cases()), law_name);

class BatchingSlow : public testing::TestWithParam<LawCase> {};
TEST_P(BatchingSlow, SessionsInOneStepGetTheBitsThatTheyGetAlone) {
  together_is_as_alone(GetParam(), 6, 110, 5);
  together_is_as_alone(GetParam(), 16, 30, 6);
}
INSTANTIATE_TEST_SUITE_P(Everywhere, BatchingSlow, testing::ValuesIn(mostly_fast(law_cases())), law_name);

class BatchingOverDevicesSlow : public testing::TestWithParam<LawCase> {};
TEST_P(BatchingOverDevicesSlow, SessionsInOneStepGetTheBitsThatTheyGetAlone) {
  together_over_devices(GetParam(), 2);
}
INSTANTIATE_TEST_SUITE_P(Everywhere, BatchingOverDevicesSlow, testing::ValuesIn(spread_cases()), law_name);

}  // namespace
}  // namespace manyspan::test
