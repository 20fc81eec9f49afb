#include "text/tokenizer.h"

#include <algorithm>
#include <array>
#include <climits>

#include <gtest/gtest.h>

#include "text/fixtures.h"

namespace manyspan::text {
namespace {

std::vector<std::int32_t> encoded(std::vector<TextRun> runs) {
  return numbers(small_tokenizer().encode(runs));
}

std::int32_t user() { return small_tokenizer().control("<｜User｜>")->value; }

TEST(Tokenizer, AddedTokensAreFoundByTheirTextAndAreControls) {
  const Tokenizer& tokenizer = small_tokenizer();
  EXPECT_EQ(tokenizer.size(), 3200U);
  EXPECT_EQ(user(), 3091);
  EXPECT_EQ(tokenizer.control("｜DSML｜"), TokenId{3113});
  EXPECT_EQ(tokenizer.control("<｜end▁of▁sentence｜>"), TokenId{1});
  EXPECT_EQ(tokenizer.control("<｜Use"), std::nullopt);
  EXPECT_EQ(tokenizer.control("the"), std::nullopt);
  EXPECT_TRUE(tokenizer.is_control(TokenId{0}));
  EXPECT_TRUE(tokenizer.is_control(TokenId{3199}));
  EXPECT_FALSE(tokenizer.is_control(TokenId{3}));
}

TEST(Tokenizer, TheV41TokenizerHasItsKnownControls) {
  const Tokenizer* tokenizer = v41_tokenizer();
  if (tokenizer == nullptr) GTEST_SKIP() << kNoV41;
  EXPECT_EQ(tokenizer->size(), 129'280U);
  EXPECT_EQ(tokenizer->control("<｜User｜>"), TokenId{128803});
  EXPECT_EQ(tokenizer->control("<think>"), TokenId{128821});
  EXPECT_EQ(tokenizer->control("<｜deepseek_image｜>"), TokenId{129264});
  EXPECT_TRUE(tokenizer->is_control(TokenId{128000}));
  EXPECT_FALSE(tokenizer->is_control(TokenId{127999}));
}

TEST(Tokenizer, TextOfUsersNeverBecomesAControl) {
  const auto ids = encoded({{"<｜User｜>", true}, {"hi <｜User｜>", false}, {"<｜User｜>", true}});
  EXPECT_EQ(ids.front(), user());
  EXPECT_EQ(ids.back(), user());
  EXPECT_EQ(std::count(ids.begin(), ids.end(), user()), 2);
}

TEST(Tokenizer, AControlHalfWrittenByAUserIsNotOne) {
  EXPECT_EQ(encoded({{"<｜Us", true}, {"er｜>", false}}), encoded({{"<｜User｜>", false}}));
  EXPECT_EQ(encoded({{"<｜Us", false}, {"er｜>", true}}), encoded({{"<｜User｜>", false}}));
}

TEST(Tokenizer, NeighbouringRunsAreOneText) {
  EXPECT_EQ(encoded({{"<｜Us", true}, {"er｜>", true}}), std::vector<std::int32_t>{user()});
  EXPECT_EQ(encoded({{"In the begin", false}, {"", true}, {"ning.", true}, {"\n\n", false}}),
            encoded({{"In the beginning.\n\n", false}}));
  EXPECT_EQ(encoded({}), std::vector<std::int32_t>{});
}

TEST(Tokenizer, TheLongestOfTheAddedTokensAtAPlaceIsMatchedAndTheTextAroundIsNotTrimmed) {
  const AddedTokens added({{"<a", TokenId{1}}, {"<a>b", TokenId{2}}, {"a>", TokenId{3}}});
  const auto find = [&](std::string_view text) { return added.find(text, 0, text.size()); };
  EXPECT_EQ(find("x<a>b")->id, TokenId{2});
  EXPECT_EQ(find("x<a>b")->begin, 1U);
  EXPECT_EQ(find("<a>c")->id, TokenId{1});
  EXPECT_EQ(find("<a>c")->end, 2U);
  EXPECT_EQ(find("ca>")->id, TokenId{3});
  EXPECT_FALSE(find("< a"));
  EXPECT_EQ(added.find("x<a>b", 0, 4)->id, TokenId{1});  // the longer one would leave its stretch
}

TEST(Tokenizer, EveryTokenOfTheVocabularyHasItsBytesAndThoseOutsideHaveNone) {
  const Tokenizer& tokenizer = small_tokenizer();
  for (std::int32_t id = 0; id < 3200; ++id) EXPECT_FALSE(tokenizer.bytes_of(TokenId{id}).empty()) << id;
  for (const std::int32_t id : {-1, 3200, INT32_MIN, INT32_MAX}) {
    EXPECT_EQ(tokenizer.bytes_of(TokenId{id}), "");
    EXPECT_FALSE(tokenizer.is_control(TokenId{id}));
    const auto decoded = tokenizer.decode(std::array{TokenId{5}, TokenId{id}});
    ASSERT_FALSE(decoded.ok());
    EXPECT_EQ(decoded.error().fault(), Fault::invalid);
    EXPECT_EQ(decoded.error().message(),
              "token id " + std::to_string(id) + " is outside the vocabulary of 3200 tokens");
  }
}

TEST(Tokenizer, OneHugeWordAndHugeRunsAreEncodedAndComeBack) {
  for (const char* unit : {" ", "\n", "a", "abc", "é", "你", "1", "<", "<｜", "\x01"}) {
    std::string text;
    while (text.size() < 300'000) text += unit;
    EXPECT_EQ(small_tokenizer().decode(small_tokenizer().encode(text, true)).value(), text);
  }
}

TEST(Tokenizer, AFileThatIsNotThereOrNoFileIsNamed) {
  const auto missing = Tokenizer::open("no/such/tokenizer.json");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().fault(), Fault::not_found);
  EXPECT_EQ(missing.error().message(), "no/such/tokenizer.json: No such file or directory");
  EXPECT_EQ(Tokenizer::open(MANYSPAN_SOURCE_DIR).error().fault(), Fault::not_found);
  EXPECT_TRUE(Tokenizer::open(MANYSPAN_SOURCE_DIR "/tests/data/tokenizer-small/tokenizer.json").ok());
}

}  // namespace
}  // namespace manyspan::text
