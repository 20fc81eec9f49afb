// The law of chunking: any split of a prompt gives the same bits as the whole.
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/spread.h"

namespace manyspan::test {
namespace {

// Steps of at most 40 rows, so that window pages are given back and their places in the table used again.
constexpr Limits kLimits{.step_rows = 40, .sampled_rows = 40, .sessions = 1, .context = 512};

void any_split_gives_the_same_bits(const LawCase& law, std::int64_t tokens, std::int64_t step,
                                   int random_splits, std::uint64_t seed) {
  const std::vector<TokenId> prompt = law_prompt(law.model, 0, tokens);
  const std::vector<float> whole = right_logits(law, 0, tokens);
  Spread spread(law, kLimits, seed);
  for (std::int64_t size = 1; size <= 33; size += step) {
    const std::vector<std::int64_t> chunks(prompt.size() / size + 1, size);
    EXPECT_EQ(first_difference(whole, spread->logits(prompt, chunks)), -1) << "chunks of " << size;
  }
  std::mt19937 random(static_cast<unsigned>(seed));
  for (int split = 0; split < random_splits; ++split) {
    std::vector<std::int64_t> chunks;
    for (std::size_t covered = 0; covered < prompt.size(); covered += chunks.back()) {
      chunks.push_back(1 + static_cast<std::int64_t>(random() % 40));
    }
    EXPECT_EQ(first_difference(whole, spread->logits(prompt, chunks)), -1) << "random split " << split;
  }
}

// Over devices: one size of chunks and one random split for each seed.
void any_split_over_devices(const LawCase& law, int seeds) {
  for_each_seed(law, seeds, [&](std::uint64_t seed) {
    const std::int64_t size = 1 + static_cast<std::int64_t>(seed % 33);
    const std::vector<TokenId> prompt = law_prompt(law.model, 0, 90);
    Spread spread(law, kLimits, seed);
    const std::vector<std::int64_t> chunks(prompt.size() / size, size);
    EXPECT_EQ(first_difference(right_logits(law, 0, 90), spread->logits(prompt, chunks)), -1)
        << "chunks of " << size;
    any_split_gives_the_same_bits(law, 90, 34, 1, seed);
  });
}

class Chunking : public testing::TestWithParam<LawCase> {};
TEST_P(Chunking, AnySplitOfAPromptGivesTheSameBits) {
  any_split_gives_the_same_bits(GetParam(), 70, 16, 1, 11);
}
INSTANTIATE_TEST_SUITE_P(Quick, Chunking, testing::ValuesIn(mostly_fast(quick_law_cases())), law_name);

class ChunkingOverDevices : public testing::TestWithParam<LawCase> {};
TEST_P(ChunkingOverDevices, AnySplitOfAPromptGivesTheSameBits) { any_split_over_devices(GetParam(), 1); }
INSTANTIATE_TEST_SUITE_P(Quick, ChunkingOverDevices, testing::ValuesIn(quick_spread_cases()), law_name);

class ChunkingSlow : public testing::TestWithParam<LawCase> {};
TEST_P(ChunkingSlow, AnySplitOfAPromptGivesTheSameBits) {
  const bool strict = GetParam().table == &kernels::kReference;
  any_split_gives_the_same_bits(GetParam(), 130, GetParam().thorough ? 1 : 8, strict ? 2 : 8, 11);
}
INSTANTIATE_TEST_SUITE_P(Everywhere, ChunkingSlow, testing::ValuesIn(mostly_fast(law_cases())), law_name);

class ChunkingOverDevicesSlow : public testing::TestWithParam<LawCase> {};
TEST_P(ChunkingOverDevicesSlow, AnySplitOfAPromptGivesTheSameBits) { any_split_over_devices(GetParam(), 2); }
INSTANTIATE_TEST_SUITE_P(Everywhere, ChunkingOverDevicesSlow, testing::ValuesIn(spread_cases()), law_name);

}  // namespace
}  // namespace manyspan::test
