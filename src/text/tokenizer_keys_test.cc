#include "text/tokenizer_keys.h"

#include <gtest/gtest.h>

#include "text/fixtures.h"
#include "text/tokenizer_gguf.h"
#include "text/tokenizer_json.h"

namespace manyspan::text {
namespace {

void expect_there_and_back(std::string_view json) {
  const Json keys = tokenizer_keys(json, "t.json").value();
  const auto back = tokenizer_json_of(keys, "m.gguf");
  ASSERT_TRUE(back.ok()) << back.error().message();
  const Vocabulary a = read_tokenizer_json(json, "a").value(),
                   b = read_tokenizer_json(back.value(), "b").value();
  EXPECT_EQ(a.spellings, b.spellings);
  EXPECT_EQ(a.merges, b.merges);
  const auto sorted = [](std::vector<TokenId> ids) {
    std::sort(ids.begin(), ids.end());
    return ids;
  };
  EXPECT_EQ(sorted(a.added), sorted(b.added));
  EXPECT_EQ(compact_json(tokenizer_keys(back.value(), "b").value()), compact_json(keys));
}

TEST(TokenizerKeys, ThereAndBackIsTheSameTokenizer) {
  expect_there_and_back(read_test_data("tokenizer-small/tokenizer.json"));
}

TEST(TokenizerKeys, SoIsTheReleasedOne) {
  const auto json = unpack_fixture("tokenizer-v41/tokenizer.json.gz");
  if (!json) GTEST_SKIP() << kNoV41;
  expect_there_and_back(*json);
}

TEST(TokenizerKeys, UnusedRowsAtTheEndAreNoTokensAndTwoOfOneSpellingAreRefused) {
  Json keys = tokenizer_keys(read_test_data("tokenizer-small/tokenizer.json"), "t").value();
  Json tokens = *keys.find("tokenizer.ggml.tokens"), types = *keys.find("tokenizer.ggml.token_type");
  const std::string without = tokenizer_json_of(keys, "m").value();
  tokens.push("[PAD]"), types.push(5);
  keys.set("tokenizer.ggml.tokens", tokens);
  keys.set("tokenizer.ggml.token_type", types);
  EXPECT_EQ(tokenizer_json_of(keys, "m").value(), without);
  tokens.push(*(*tokens.array())[300].string()), types.push(1);
  keys.set("tokenizer.ggml.tokens", tokens);
  keys.set("tokenizer.ggml.token_type", types);
  const auto twice = tokenizer_json_of(keys, "m.gguf");
  ASSERT_FALSE(twice.ok());
  EXPECT_NE(twice.error().message().find("m.gguf: tokenizer.ggml.tokens["), std::string::npos);
}

}  // namespace
}  // namespace manyspan::text
