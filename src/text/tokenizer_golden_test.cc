// Both fixture tokenizers, held to every expected row.
#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include "base/utf8.h"
#include "text/decoder.h"
#include "text/fixtures.h"

namespace manyspan::text {
namespace {

using Json = nlohmann::json;

struct Golden {
  const char* name;
  const char* rows;
};

class TokenizerGolden : public testing::TestWithParam<Golden> {
 protected:
  void SetUp() override {
    rows_ = Json::parse(read_test_data(GetParam().rows));
    tokenizer_ = GetParam().name == std::string("v41") ? v41_tokenizer() : &small_tokenizer();
    if (tokenizer_ == nullptr) GTEST_SKIP() << kNoV41;
  }

  void expect_encoded(const char* rows, bool match_added, std::size_t at_least) {
    EXPECT_GE(rows_[rows].size(), at_least);
    for (const Json& row : rows_[rows]) {
      const auto text = row["text"].get<std::string>();
      const auto encoded = tokenizer_->encode(text, match_added);
      EXPECT_EQ(numbers(encoded), row["ids"].get<std::vector<std::int32_t>>()) << rows << ": " << row["text"];
      EXPECT_EQ(tokenizer_->decode(encoded).value(), text);
    }
  }

  Json rows_;
  const Tokenizer* tokenizer_ = nullptr;
};

TEST_P(TokenizerGolden, CasesEncodeAsExpectedAndDecodeToThemselves) { expect_encoded("cases", true, 242); }
TEST_P(TokenizerGolden, PlainTextMatchesNoAddedToken) { expect_encoded("plain", false, 29); }
TEST_P(TokenizerGolden, RandomTextEncodesAsExpected) { expect_encoded("fuzz", true, 160); }

TEST_P(TokenizerGolden, InvalidBytesEncodeAsReplacementCharacters) {
  EXPECT_GE(rows_["invalid_utf8"].size(), 13U);
  for (const Json& row : rows_["invalid_utf8"]) {
    const std::string bytes = from_hex(row["hex"]);
    EXPECT_EQ(replace_invalid_utf8(bytes), row["lossy_text"]) << row;
    EXPECT_EQ(numbers(tokenizer_->encode(bytes, true)), row["ids"].get<std::vector<std::int32_t>>()) << row;
  }
}

TEST_P(TokenizerGolden, IdsDecodeToTheExpectedBytesAtOnceAndAsAStream) {
  EXPECT_GE(rows_["decode"].size(), 20U);
  for (const Json& row : rows_["decode"]) {
    const auto row_ids = ids(row["ids"]);
    EXPECT_EQ(tokenizer_->decode_bytes(row_ids).value(), from_hex(row["hex"])) << row;
    EXPECT_EQ(tokenizer_->decode(row_ids).value(), row["text"]) << row;
    Decoder decoder(*tokenizer_, Decoder::Controls::show);
    std::string streamed;
    for (const TokenId id : row_ids) {
      const std::string piece = decoder.push(id);
      EXPECT_TRUE(is_valid_utf8(piece)) << row;
      streamed += piece;
    }
    EXPECT_EQ(streamed + decoder.finish(), row["text"]) << row;
  }
}

INSTANTIATE_TEST_SUITE_P(Of, TokenizerGolden,
                         testing::Values(Golden{"small", "tokenizer-small/golden.json"},
                                         Golden{"v41", "tokenizer_cases.json"}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace manyspan::text
