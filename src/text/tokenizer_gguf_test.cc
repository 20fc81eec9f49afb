#include "text/tokenizer_gguf.h"

#include <gtest/gtest.h>

#include "text/control.h"
#include "text/engram_tokens.h"
#include "text/fixtures.h"
#include "text/gguf_keys_trial.h"

namespace manyspan::text {
namespace {

std::string refusal(const Json& keys) {
  auto made = read_gguf_tokenizer(keys, "m.gguf");
  return made.ok() ? "accepted" : made.error().message();
}

Json small_keys() {
  return gguf_tokenizer_keys(parse_json(read_test_data("tokenizer-small/tokenizer.json")).value());
}

// Equal in every token, and in what any row of the expected results becomes.
void expect_same(const Tokenizer& made, const Tokenizer& other, const std::string& rows) {
  ASSERT_EQ(made.size(), other.size());
  for (std::size_t i = 0; i < other.size(); ++i) {
    const TokenId id{static_cast<std::int32_t>(i)};
    ASSERT_EQ(made.bytes_of(id), other.bytes_of(id)) << i;
    ASSERT_EQ(made.is_control(id), other.is_control(id)) << i;
    if (other.is_control(id)) {
      ASSERT_EQ(made.control(other.bytes_of(id)), id);
    }
  }
  EXPECT_EQ(engram_tokens(made).map, engram_tokens(other).map);
  const Json golden = parse_json(read_test_data(rows)).value();
  std::size_t count = 0;
  for (const char* kind : {"cases", "plain", "fuzz"}) {
    for (const Json& row : *golden.find(kind)->array()) {
      const std::string& text = *row.find("text")->string();
      const bool match = kind != std::string_view("plain");
      ASSERT_EQ(numbers(made.encode(text, match)), numbers(other.encode(text, match))) << text;
      ++count;
    }
  }
  EXPECT_GT(count, 400u);
}

TEST(TokenizerGguf, IsTheOneOfTheFilesTokenizerJson) {
  const GgufTokenizer made = read_gguf_tokenizer(small_keys(), "m.gguf").value();
  ASSERT_TRUE(made.tokenizer);
  EXPECT_TRUE(made.warnings.empty());
  expect_same(*made.tokenizer, small_tokenizer(), "tokenizer-small/golden.json");
}

TEST(TokenizerGguf, IsTheReleasedOne) {
  const auto json = unpack_fixture("tokenizer-v41/tokenizer.json.gz");
  if (!json) GTEST_SKIP() << kNoV41;
  const GgufTokenizer made =
      read_gguf_tokenizer(gguf_tokenizer_keys(parse_json(*json).value()), "m.gguf").value();
  ASSERT_TRUE(made.tokenizer);
  expect_same(*made.tokenizer, *v41_tokenizer(), "tokenizer_cases.json");
}

TEST(TokenizerGguf, AnAbsentOneIsNoFault) {
  EXPECT_FALSE(read_gguf_tokenizer(Json::Object{}, "m.gguf").value().tokenizer);
}

TEST(TokenizerGguf, AWholeTokenizerJsonServesWhereTokensAreMissing) {
  Json keys = Json::Object{};
  keys.set("tokenizer.huggingface.json", read_test_data("tokenizer-small/tokenizer.json"));
  const GgufTokenizer made = read_gguf_tokenizer(keys, "m.gguf").value();
  ASSERT_TRUE(made.tokenizer);
  EXPECT_EQ(made.tokenizer->size(), small_tokenizer().size());
  keys.set("tokenizer.huggingface.json", "{");
  EXPECT_TRUE(refusal(keys).starts_with("m.gguf: tokenizer.huggingface.json: ")) << refusal(keys);
}

TEST(TokenizerGguf, WhatFillsTheListUpIsNoToken) {
  Json keys = small_keys();
  Json::Array tokens = *keys.find("tokenizer.ggml.tokens")->array(),
              types = *keys.find("tokenizer.ggml.token_type")->array();
  const std::size_t count = tokens.size();
  for (int i = 0; i < 8; ++i) tokens.emplace_back("[PAD" + std::to_string(i) + "]"), types.emplace_back(5);
  keys.set("tokenizer.ggml.tokens", tokens);
  keys.set("tokenizer.ggml.token_type", types);
  EXPECT_EQ(read_gguf_tokenizer(keys, "m.gguf").value().tokenizer->size(), count);
}

TEST(TokenizerGguf, SpellingsMayRepeatAndTheFirstCounts) {
  Json keys = small_keys();
  Json::Array tokens = *keys.find("tokenizer.ggml.tokens")->array(),
              types = *keys.find("tokenizer.ggml.token_type")->array();
  const auto count = static_cast<std::int32_t>(tokens.size());
  tokens.emplace_back("a"), types.emplace_back(1);
  tokens.emplace_back(kEos), types.emplace_back(3);
  keys.set("tokenizer.ggml.tokens", tokens);
  keys.set("tokenizer.ggml.token_type", types);
  const Tokenizer made = *read_gguf_tokenizer(keys, "m.gguf").value().tokenizer;
  EXPECT_EQ(made.encode("a", true), small_tokenizer().encode("a", true));
  EXPECT_EQ(made.control(kEos), small_tokenizer().control(kEos));
  EXPECT_EQ(made.bytes_of({count}), "a");
  EXPECT_EQ(made.bytes_of({count + 1}), kEos);
  EXPECT_TRUE(made.is_control({count + 1}));
}

TEST(TokenizerGguf, OtherKindsAreRefused) {
  const auto with = [](const char* key, Json value) {
    Json keys = small_keys();
    keys.set(std::string("tokenizer.ggml.") + key, std::move(value));
    return keys;
  };
  EXPECT_EQ(refusal(with("model", "llama")), "m.gguf: tokenizer.ggml.model: \"llama\"; expected \"gpt2\"");
  EXPECT_EQ(refusal(with("pre", "qwen2")), "m.gguf: tokenizer.ggml.pre: \"qwen2\"; expected \"joyai-llm\"");
  EXPECT_EQ(refusal(with("token_type", Json::Array(3, Json(1)))),
            "m.gguf: tokenizer.ggml.token_type: 3 entries, but tokenizer.ggml.tokens has 3200");
  EXPECT_EQ(refusal(with("token_type", Json::Array(3200, Json(7)))),
            "m.gguf: tokenizer.ggml.token_type[0]: 7 is no type of token");
  EXPECT_EQ(refusal(with("merges", "a b")), "m.gguf: tokenizer.ggml.merges: expected a list, found a string");
  EXPECT_EQ(refusal(with("merges", Json::Array(1, Json("abc")))),
            "m.gguf: tokenizer.ggml.merges[0]: \"abc\"; expected two parts");
  EXPECT_EQ(refusal(with("tokens", Json::Array(3200, Json(7)))),
            "m.gguf: tokenizer.ggml.tokens[0]: expected a text, found an integer");
  Json keys = Json::Object{};
  keys.set("tokenizer.ggml.tokens", Json::Array{});
  EXPECT_EQ(refusal(keys), "m.gguf: tokenizer.ggml.model: missing; expected \"gpt2\"");
}

TEST(TokenizerGguf, AnotherNameForTheCuttingIsWarnedOf) {
  Json keys = small_keys();
  keys.set("tokenizer.ggml.pre", "deepseek-v4-flash");
  const GgufTokenizer made = read_gguf_tokenizer(keys, "m.gguf").value();
  EXPECT_EQ(made.warnings,
            (std::vector<std::string>{"tokenizer.ggml.pre: \"deepseek-v4-flash\"; text is cut as "
                                      "\"joyai-llm\" has it"}));
}

}  // namespace
}  // namespace manyspan::text
