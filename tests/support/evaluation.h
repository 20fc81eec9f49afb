// evaluation — the bundled model's held-out questions and passages, and how an engine is scored on them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tests/support/model_rig.h"

namespace manyspan::test {

struct Question {
  std::string id;
  std::vector<TokenId> prompt, answer;
  std::vector<TokenId> strict_greedy;  // what the oracle continues with; only of look-ups
};

struct Passage {
  std::string source;
  std::vector<TokenId> ids;
  double perplexity;  // strict
};

std::vector<Question> lookups();  // facts strewn through a long text
std::vector<Question> world();    // facts in the Engram tables
std::vector<Passage> passages();

struct Score {
  int right = 0;      // greedy continuation equals the answer
  int as_strict = 0;  // equals strict_greedy
  int asked = 0;
};

// Asks every `stride`-th question.
Score score(ModelRig& rig, const std::vector<Question>& questions, std::size_t stride = 1);

double perplexity(ModelRig& rig, const Passage& passage);

}  // namespace manyspan::test
