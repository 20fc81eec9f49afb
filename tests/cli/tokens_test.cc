#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace manyspan::tests {
namespace {

nlohmann::json json_of(const Ran& ran) {
  EXPECT_EQ(ran.status, 0) << ran.err;
  return nlohmann::json::parse(ran.out, nullptr, false);
}

TEST(Tokens, TextComesBackFromItsIds) {
  const std::string text = "In the beginning, größer\n\n  北京 1234567";
  const Ran ids = run({"tokenize"}, text);
  ASSERT_EQ(ids.status, 0) << ids.err;
  const Ran back = run({"detokenize"}, ids.out);
  EXPECT_EQ(back.status, 0) << back.err;
  EXPECT_EQ(back.out, text);
}

TEST(Tokens, ControlTokensAreMatchedUnlessPlain) {
  EXPECT_EQ(json_of(run({"tokenize", "--json"}, "<｜User｜>"))["ids"], nlohmann::json({3091}));
  EXPECT_GT(json_of(run({"tokenize", "--json", "--plain"}, "<｜User｜>"))["ids"].size(), 1u);
}

TEST(Tokens, BrokenTextIsReplaced) {
  const auto ids = json_of(run({"tokenize", "--json"},
                               "a\xff\xfe"
                               "b\xe2\x82"))["ids"];
  EXPECT_EQ(json_of(run({"detokenize", "--json"}, ids.dump()))["text"], "a\uFFFD\uFFFDb\uFFFD");
}

TEST(Tokens, NoTextHasNoIds) {
  EXPECT_EQ(json_of(run({"tokenize", "--json"}, ""))["ids"], nlohmann::json::array());
  const auto back = json_of(run({"detokenize", "--json"}, "[]"));
  EXPECT_EQ(back, nlohmann::json({{"text", ""}, {"hex", ""}}));
}

TEST(Tokens, IdsAreReadInEveryForm) {
  const auto one = json_of(run({"detokenize", "--json"}, "[54, 74, 71]"));
  EXPECT_EQ(one["text"], "The");
  EXPECT_EQ(one["hex"], "546865");
  EXPECT_EQ(json_of(run({"detokenize", "--json"}, "54 74\n71\n")), one);
  EXPECT_EQ(json_of(run({"detokenize", "--json"}, "54,74,71")), one);
}

TEST(Tokens, WhatIsNoIdIsRefused) {
  for (const std::string input :
       {"54 x", "[54", "[", "54]", "-1", "99999999999", "1.5", "{}", "3200", "54 3200", "[1 2]", "1,,2", ",1",
        "1,", "[1,]", "[1, \"2\"]", "[99999999999]", "[1] 2"}) {
    const Ran ran = run({"detokenize"}, input);
    EXPECT_EQ(ran.status, 3) << input;
    EXPECT_EQ(ran.out, "") << input;
    EXPECT_EQ(ran.err.rfind("manyspan: standard input: ", 0), 0u) << ran.err;
  }
  EXPECT_NE(run({"detokenize"}, "54 3200").err.find("id 3200 is outside the 3200"), std::string::npos);
}

TEST(Tokens, AModelMayBeNamedByAFileInIt) {
  const std::string folder = MANYSPAN_SOURCE_DIR "/models/first-light";
  const std::string ids = run({"tokenize"}, "wisdom").out;
  EXPECT_EQ(run({"tokenize", folder}, "wisdom").out, ids);
  EXPECT_EQ(run({"tokenize", folder + "/model.safetensors"}, "wisdom").out, ids);
  EXPECT_EQ(run({"tokenize", folder + "/tokenizer.json"}, "wisdom").out, ids);
}

TEST(Tokens, AModelThatIsNotThereIsRefusedByName) {
  Folder empty;
  for (const std::string& model : {empty.path() + "/none", empty.path(), empty.file("model.txt", "x")}) {
    const Ran ran = run({"tokenize", model}, "text");
    EXPECT_EQ(ran.status, 3);
    EXPECT_EQ(ran.err.rfind("manyspan: " + model, 0), 0u) << ran.err;
  }
}

TEST(Tokens, ABrokenTokenizerIsRefused) {
  Folder folder;
  for (const std::string text : {"", "{", "[]", "{}", "{\"model\": 7}", "\xff"}) {
    folder.file("tokenizer.json", text);
    const Ran ran = run({"tokenize", folder.path()}, "text");
    EXPECT_EQ(ran.status, 3) << text;
    EXPECT_NE(ran.err.find("tokenizer.json: "), std::string::npos) << ran.err;
  }
}

TEST(Tokens, TheDefaultModelIsNamedAsADefault) {
  const auto shown = json_of(run({"tokenize", "--json", "--print-config"}));
  EXPECT_EQ(shown["model"]["value"], MANYSPAN_SOURCE_DIR "/models/first-light");
  EXPECT_EQ(shown["model"]["from"], "default");
}

}  // namespace
}  // namespace manyspan::tests
