// Mistakes that answers do not show must show in the goldens.
#include "tests/support/golden.h"

#include <gtest/gtest.h>

#include "tests/mutations/mutated_tables.h"
#include "tests/support/model_rig.h"

namespace manyspan::test {
namespace {

// Whether the prefill logits of a fixture are the oracle's, but for libm.
bool matches(ModelRig& rig, const Golden& golden) {
  const std::span<const TokenId> prompt = std::span(golden.ids()).subspan(0, golden.prompt());
  const std::vector<float> actual = rig.logits(prompt), expected = golden.floats("prefill.logits");
  if (actual.size() != expected.size()) return false;
  const std::size_t width = actual.size() / prompt.size();
  std::size_t exact = 0;
  for (std::size_t r = 0; r < prompt.size(); ++r) {
    exact += std::equal(actual.begin() + r * width, actual.begin() + (r + 1) * width,
                        expected.begin() + r * width);
  }
  return exact * 100 >= prompt.size() * 99;
}

class MutatedGoldens : public testing::TestWithParam<const char*> {
 protected:
  bool still_matches(const kernels::Table& table) {
    ModelRig rig(data_path(GetParam()), {.table = &table});
    return matches(rig, golden_);
  }
  Golden golden_{data_path(GetParam())};
};

TEST_P(MutatedGoldens, TheUnchangedReferenceMatches) { EXPECT_TRUE(still_matches(kernels::kReference)); }
TEST_P(MutatedGoldens, AResetPreMixIsSeen) {
  EXPECT_FALSE(still_matches(pre_mix_reset(kernels::kReference)));
}
TEST_P(MutatedGoldens, AMissingCandidateFilterIsSeen) {
  EXPECT_FALSE(still_matches(candidate_filter_off(kernels::kReference)));
}
TEST_P(MutatedGoldens, ATransposedCombIsSeen) {
  EXPECT_FALSE(still_matches(comb_transposed(kernels::kReference)));
}
TEST_P(MutatedGoldens, AnExtraQueryNormIsSeen) {
  EXPECT_FALSE(still_matches(query_normed_again(kernels::kReference)));
}

TEST_P(MutatedGoldens, AWrongRopeBaseIsSeen) {
  ModelRig rig(data_path(GetParam()), {.table = &kernels::kReference});
  rig.prepared().compressed_rope = rig.prepared().window_rope;
  EXPECT_FALSE(matches(rig, golden_));
}

INSTANTIATE_TEST_SUITE_P(Tiny, MutatedGoldens, testing::Values("t1_base", "t2_multi"));

}  // namespace
}  // namespace manyspan::test
