// The law of batching: together is as alone. Sessions join and leave, prefill in pieces and decode, in one step's rows.
#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/law.h"
#include "tests/support/model_rig.h"

namespace manyspan::test {
namespace {

struct Conversation {
  std::vector<TokenId> tokens;
  SessionId session{0};
  std::size_t at = 0;
  std::vector<float> logits;
};

void together_is_as_alone(const LawCase& law, std::size_t sessions) {
  ModelRig rig(law.model, {.table = law.table});
  std::mt19937 random(5);
  std::vector<Conversation> all(sessions);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].tokens = law_prompt(law.model, i);
    all[i].tokens.resize(std::min<std::size_t>(all[i].tokens.size(), 20 + 17 * i));
  }
  // Conversations start at different steps; each step takes a random piece of some of those that are open.
  for (std::size_t step = 0;
       std::any_of(all.begin(), all.end(), [](auto& c) { return c.at < c.tokens.size(); }); ++step) {
    std::vector<Sessions::Piece> pieces;
    std::vector<Conversation*> taking;
    for (std::size_t i = 0; i < all.size(); ++i) {
      Conversation& c = all[i];
      if (step < i || c.at == c.tokens.size() || random() % 4 == 0) continue;
      if (c.at == 0) c.session = rig.sessions().open().value();
      const std::size_t count =
          std::min<std::size_t>(c.tokens.size() - c.at, random() % 2 == 0 ? 1 : 1 + random() % 30);
      pieces.push_back({c.session, std::span(c.tokens).subspan(c.at, count), Sessions::Want::all, {}});
      taking.push_back(&c);
    }
    if (pieces.empty()) continue;
    std::shuffle(pieces.begin(), pieces.end(), random);
    const auto out = rig.sessions().step(pieces, true).value().logits;
    std::int64_t row = 0;
    for (const Sessions::Piece& p : pieces) {
      auto& c = **std::find_if(taking.begin(), taking.end(),
                               [&](const Conversation* c) { return c->session == p.session; });
      const auto rows = static_cast<std::int64_t>(p.tokens.size());
      c.logits.insert(c.logits.end(), out.row(row), out.row(row) + rows * out.cols);
      c.at += p.tokens.size();
      row += rows;
      if (c.at == c.tokens.size()) rig.sessions().close(c.session);
    }
  }
  EXPECT_EQ(rig.sessions().pages_used(), 0) << "pages of closed sessions are given back";
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(first_difference(rig.logits(all[i].tokens), all[i].logits), -1) << "session " << i;
  }
}

class Batching : public testing::TestWithParam<LawCase> {};
TEST_P(Batching, SessionsInOneStepGetTheBitsThatTheyGetAlone) { together_is_as_alone(GetParam(), 3); }
INSTANTIATE_TEST_SUITE_P(Quick, Batching, testing::ValuesIn(quick_law_cases()), law_name);

class BatchingSlow : public testing::TestWithParam<LawCase> {};
TEST_P(BatchingSlow, SessionsInOneStepGetTheBitsThatTheyGetAlone) { together_is_as_alone(GetParam(), 6); }
INSTANTIATE_TEST_SUITE_P(Everywhere, BatchingSlow, testing::ValuesIn(law_cases()), law_name);

}  // namespace
}  // namespace manyspan::test
