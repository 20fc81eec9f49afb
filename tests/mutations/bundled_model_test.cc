// Typical mistakes must show in the bundled model's answers, or the answers prove nothing.
#include <gtest/gtest.h>

#include "tests/mutations/altered_scales.h"
#include "tests/mutations/mutated_tables.h"
#include "tests/support/evaluation.h"

namespace manyspan::test {
namespace {

const kernels::Table& fast() { return *kernels::host_tables().back(); }
const Blueprint& bundled() { return checkpoint(bundled_model()).blueprint; }

Score lookups_with(const kernels::Table& table) {
  ModelRig rig(bundled_model(), {.table = &table});
  const Score s = score(rig, lookups());
  EXPECT_EQ(s.asked, 40);
  return s;
}

Score lookups_with_scales(const ScaleReading& reading) {
  ModelRig rig(bundled_model(), {});
  const auto kept = alter_fp8_scales(rig.prepared(), reading);
  EXPECT_FALSE(kept.empty());
  return score(rig, lookups());
}

TEST(MutatedBundledSlow, WithoutEngramNoLookUpIsRight) {
  EXPECT_EQ(lookups_with(engram_off(fast())).right, 0);
}

TEST(MutatedBundledSlow, WithoutCompressedRowsNoLookUpIsRight) {
  EXPECT_EQ(lookups_with(compressed_rows_empty(fast(), bundled())).right, 0);
}

TEST(MutatedBundledSlow, ASelectionLostBeforeLayer3IsSeen) {
  EXPECT_LE(lookups_with(selection_lost(fast(), {3})).right, 22);
}

TEST(MutatedBundledSlow, ASelectionLostBeforeLayer5IsSeen) {
  EXPECT_LE(lookups_with(selection_lost(fast(), {5})).right, 22);
}

TEST(MutatedBundledSlow, TransposedScalesLeaveNoLookUpRight) {
  EXPECT_EQ(lookups_with_scales(read_transposed).right, 0);
}

TEST(MutatedBundledSlow, ScalesReadRowWiseAreSeen) {
  EXPECT_LE(lookups_with_scales(read_row_wise).right, 24);
}

// The control: the same rewriting with the right reading changes nothing.
TEST(MutatedBundled, RewritingTheScalesRightlyChangesNoBit) {
  ModelRig plain(bundled_model(), {}), rewritten(bundled_model(), {});
  const auto kept = alter_fp8_scales(rewritten.prepared(), read_rightly);
  ASSERT_FALSE(kept.empty());
  const std::vector<Question> questions = lookups();
  const std::span<const TokenId> prompt = std::span(questions[0].prompt).first(60);
  EXPECT_EQ(plain.logits(prompt), rewritten.logits(prompt));
}

}  // namespace
}  // namespace manyspan::test
