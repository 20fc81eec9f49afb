#include "text/engram_tokens.h"

#include <cstring>
#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include "text/fixtures.h"

namespace manyspan::text {
namespace {

TEST(EngramTokens, TheSmallTokenizersWholeMapIsAsExpected) {
  const auto golden = nlohmann::json::parse(read_test_data("tokenizer-small/golden.json"))["engram"];
  const EngramTokens tokens = engram_tokens(small_tokenizer());
  EXPECT_EQ(tokens.distinct, golden["compressed_size"].get<std::size_t>());
  EXPECT_EQ(tokens.map, golden["map"].get<std::vector<std::int32_t>>());
}

TEST(EngramTokens, TheV41TokenizersMapIsThePublishedOneByteForByte) {
  const auto expected = unpack_fixture("engram_map_v41.int32le.gz");
  if (v41_tokenizer() == nullptr || !expected) GTEST_SKIP() << kNoV41 << " or no engram_map_v41.int32le.gz";
  const EngramTokens tokens = engram_tokens(*v41_tokenizer());
  EXPECT_EQ(tokens.distinct, 99'092U);
  ASSERT_EQ(tokens.map.size() * sizeof(std::int32_t), expected->size());
  EXPECT_EQ(std::memcmp(tokens.map.data(), expected->data(), expected->size()), 0);
}

TEST(EngramTokens, CaseMarksAndCompatibilityFormsFoldAway) {
  EXPECT_EQ(engram_fold("ÉCOLE"), "ecole");
  EXPECT_EQ(engram_fold("ﬁ"), "fi");
  EXPECT_EQ(engram_fold("Ａ１"), "a1");
  EXPECT_EQ(engram_fold("İ"), "i");
  EXPECT_EQ(engram_fold("ΣΣ"), "σσ");  // no special form at the end of a word
}

TEST(EngramTokens, EveryKindOfMarkIsDropped) {
  EXPECT_EQ(engram_fold("e\u0301"), "e");  // nonspacing
  EXPECT_EQ(engram_fold("क\u093F"), "क");  // spacing
  EXPECT_EQ(engram_fold("1\u20DD"), "1");  // enclosing
  EXPECT_EQ(engram_fold("\u093F"), "");
}

TEST(EngramTokens, WhiteSpaceCollapsesAndIsStrippedUnlessItIsAll) {
  EXPECT_EQ(engram_fold(" \t\r\n a \n\n b "), "a b");
  EXPECT_EQ(engram_fold(" \n\t"), " ");
  EXPECT_EQ(engram_fold("\u00A0"), " ");
  EXPECT_EQ(engram_fold("\v"), "");
  EXPECT_EQ(engram_fold(""), "");
}

}  // namespace
}  // namespace manyspan::text
