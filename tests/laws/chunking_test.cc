// The law of chunking: any split of a prompt gives the same bits as the whole.
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/law.h"
#include "tests/support/model_rig.h"

namespace manyspan::test {
namespace {

void any_split_gives_the_same_bits(const LawCase& law, std::int64_t step, int random_splits) {
  const std::vector<TokenId> prompt = law_prompt(law.model, 0);
  const std::vector<float> whole = ModelRig(law.model, {.table = law.table}).logits(prompt);
  // Steps of at most 40 rows, so that window pages are given back and their places in the table used again.
  ModelRig rig(law.model, {.table = law.table,
                           .limits = {.step_rows = 40, .sampled_rows = 40, .sessions = 1, .context = 2048}});
  std::mt19937 random(11);
  for (std::int64_t size = 1; size <= 33; size += step) {
    const std::vector<std::int64_t> chunks(prompt.size() / size + 1, size);
    EXPECT_EQ(first_difference(whole, rig.logits(prompt, chunks)), -1) << "chunks of " << size;
  }
  for (int split = 0; split < random_splits; ++split) {
    std::vector<std::int64_t> chunks;
    for (std::size_t covered = 0; covered < prompt.size(); covered += chunks.back()) {
      chunks.push_back(1 + static_cast<std::int64_t>(random() % 40));
    }
    EXPECT_EQ(first_difference(whole, rig.logits(prompt, chunks)), -1) << "random split " << split;
  }
}

class Chunking : public testing::TestWithParam<LawCase> {};
TEST_P(Chunking, AnySplitOfAPromptGivesTheSameBits) { any_split_gives_the_same_bits(GetParam(), 16, 1); }
INSTANTIATE_TEST_SUITE_P(Quick, Chunking, testing::ValuesIn(quick_law_cases()), law_name);

class ChunkingSlow : public testing::TestWithParam<LawCase> {};
TEST_P(ChunkingSlow, AnySplitOfAPromptGivesTheSameBits) {
  any_split_gives_the_same_bits(GetParam(), GetParam().thorough ? 1 : 8, 8);
}
INSTANTIATE_TEST_SUITE_P(Everywhere, ChunkingSlow, testing::ValuesIn(law_cases()), law_name);

}  // namespace
}  // namespace manyspan::test
