// The law of batching: together is as alone. Sessions join and leave, prefill in pieces and decode, in one
// step's rows, with several steps under way.
#include <algorithm>
#include <deque>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/spread.h"

namespace manyspan::test {
namespace {

constexpr std::int32_t kRows = 96;

struct Conversation {
  std::vector<TokenId> tokens;
  SessionId session{0};
  std::size_t at = 0;
  std::vector<float> logits{};
};

// A step under way: whose rows it has, in its order.
struct Part {
  Conversation* of;
  std::size_t count;
};
using Parts = std::vector<Part>;

class Room {
 public:
  Room(const LawCase& law, std::int32_t flights, std::uint64_t seed)
      : spread_(
            law,
            {.step_rows = kRows, .sampled_rows = kRows, .sessions = 16, .context = 256, .flights = flights},
            seed),
        flights_(static_cast<std::size_t>(flights)) {}

  void begin(const Parts& parts) {
    std::vector<Sessions::Piece> pieces;
    for (const auto& [c, count] : parts) {
      if (c->at == 0) c->session = spread_.sessions().open().value();
      pieces.push_back({c->session, std::span(c->tokens).subspan(c->at, count), Sessions::Want::all, {}});
      c->at += count;
    }
    ASSERT_TRUE(spread_.sessions().begin(pieces, true).ok());
    steps_.push_back(parts);
    while (steps_.size() >= flights_) end();
  }
  // Whoever has had all its tokens leaves, once nothing is under way.
  void close_those_who_are_done(std::vector<Conversation>& all) {
    for (Conversation& c : all) {
      if (c.at < c.tokens.size() || c.session == SessionId{0}) continue;
      while (!steps_.empty()) end();
      spread_.sessions().close(c.session);
      c.session = SessionId{0};
    }
  }
  std::int32_t pages_used() { return spread_.sessions().pages_used(); }

 private:
  void end() {
    const Rows<const float> out = spread_.sessions().end().value().logits;
    std::int64_t row = 0;
    for (const auto& [c, count] : steps_.front()) {
      const auto rows = static_cast<std::int64_t>(count);
      c->logits.insert(c->logits.end(), out.row(row), out.row(row) + rows * out.cols);
      row += rows;
    }
    steps_.pop_front();
  }

  Spread spread_;
  std::size_t flights_;
  std::deque<Parts> steps_;
};

// Conversations start at different steps; each step takes a random piece of some of those that are open.
void together_is_as_alone(const LawCase& law, std::size_t sessions, std::int64_t longest,
                          std::uint64_t seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  Room room(law, 1 + static_cast<std::int32_t>(random() % 4), seed);
  std::vector<Conversation> all(sessions);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].tokens = law_prompt(law.model, i, 3 + static_cast<std::int64_t>(random() % (longest - 2)));
  }
  for (std::size_t step = 0;
       std::any_of(all.begin(), all.end(), [](auto& c) { return c.at < c.tokens.size(); }); ++step) {
    Parts parts;
    std::size_t left = kRows;
    for (std::size_t i = 0; i < all.size(); ++i) {
      Conversation& c = all[i];
      if (step < i / 2 || c.at == c.tokens.size() || left == 0 || random() % 4 == 0) continue;
      const std::size_t wanted = random() % 2 == 0 ? 1 : 1 + random() % 30;
      parts.push_back({&c, std::min({c.tokens.size() - c.at, wanted, left})});
      left -= parts.back().count;
    }
    if (parts.empty()) continue;
    std::shuffle(parts.begin(), parts.end(), random);
    room.begin(parts);
    room.close_those_who_are_done(all);
  }
  EXPECT_EQ(room.pages_used(), 0) << "pages of closed sessions are given back";
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
