#include "text/tokenizer_json.h"

#include <functional>
#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include "text/fixtures.h"

namespace manyspan::text {
namespace {

using Json = nlohmann::json;  // edits files more freely than base/json.h

struct Change {
  const char* what;
  Fault fault;
  const char* message;  // part of it
  std::function<void(Json&)> make;
};

const Json& small() {
  static const Json json = Json::parse(read_test_data("tokenizer-small/tokenizer.json"));
  return json;
}

void expect_refused(const Change& change) {
  Json json = small();
  change.make(json);
  const auto opened = Tokenizer::parse(json.dump(), "file");
  ASSERT_FALSE(opened.ok()) << change.what;
  EXPECT_EQ(opened.error().fault(), change.fault) << opened.error().message();
  EXPECT_EQ(opened.error().message().rfind("file: ", 0), 0U) << opened.error().message();
  EXPECT_NE(opened.error().message().find(change.message), std::string::npos) << opened.error().message();
  EXPECT_EQ(opened.error().message().find('\n'), std::string::npos) << opened.error().message();
  EXPECT_LT(opened.error().message().size(), 400U);
}

TEST(TokenizerJson, WhatWouldTokeniseInAnotherWayIsRefusedByName) {
  const std::vector<Change> changes = {
      {"normaliser", Fault::unsupported, "normalizer",
       [](Json& j) {
         j["normalizer"] = {{"type", "NFC"}};
       }},
      {"normalisers", Fault::unsupported, "normalizer",
       [](Json& j) {
         j["normalizer"]["normalizers"].push_back({{"type", "NFC"}});
       }},
      {"no splits", Fault::unsupported, "pre_tokenizer", [](Json& j) { j["pre_tokenizer"] = nullptr; }},
      {"a split", Fault::unsupported, "step 0",
       [](Json& j) { j["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = "\\p{N}"; }},
      {"order of splits", Fault::unsupported, "step 0",
       [](Json& j) {
         std::swap(j["pre_tokenizer"]["pretokenizers"][0], j["pre_tokenizer"]["pretokenizers"][1]);
       }},
      {"behaviour", Fault::unsupported, "step 2",
       [](Json& j) { j["pre_tokenizer"]["pretokenizers"][2]["behavior"] = "Removed"; }},
      {"inverted", Fault::unsupported, "step 1",
       [](Json& j) { j["pre_tokenizer"]["pretokenizers"][1]["invert"] = true; }},
      {"prefix space", Fault::unsupported, "ByteLevel",
       [](Json& j) { j["pre_tokenizer"]["pretokenizers"][3]["add_prefix_space"] = true; }},
      {"a fifth step", Fault::unsupported, "pre_tokenizer",
       [](Json& j) {
         j["pre_tokenizer"]["pretokenizers"].push_back({{"type", "Digits"}});
       }},
      {"template", Fault::unsupported, "post_processor",
       [](Json& j) {
         j["post_processor"] = {{"type", "TemplateProcessing"}};
       }},
      {"decoder", Fault::unsupported, "decoder",
       [](Json& j) {
         j["decoder"] = {{"type", "WordPiece"}};
       }},
      {"model", Fault::unsupported, "model.type", [](Json& j) { j["model"]["type"] = "Unigram"; }},
      {"model type missing", Fault::unsupported, "model.type", [](Json& j) { j["model"].erase("type"); }},
      {"byte fallback", Fault::unsupported, "byte_fallback",
       [](Json& j) { j["model"]["byte_fallback"] = true; }},
      {"dropout", Fault::unsupported, "dropout", [](Json& j) { j["model"]["dropout"] = 0.1; }},
      {"whole pieces", Fault::unsupported, "ignore_merges",
       [](Json& j) { j["model"]["ignore_merges"] = true; }},
      {"suffix", Fault::unsupported, "end_of_word",
       [](Json& j) { j["model"]["end_of_word_suffix"] = "</w>"; }},
      {"trimming", Fault::unsupported, "lstrip", [](Json& j) { j["added_tokens"][5]["lstrip"] = true; }},
  };
  for (const Change& change : changes) expect_refused(change);
}

TEST(TokenizerJson, WhatIsMissingOrContradictsItselfIsRefusedByName) {
  const std::vector<Change> changes = {
      {"no object", Fault::corrupt, "no JSON object", [](Json& j) { j = Json::array(); }},
      {"no model", Fault::corrupt, "model", [](Json& j) { j.erase("model"); }},
      {"no vocabulary", Fault::corrupt, "model.vocab", [](Json& j) { j["model"].erase("vocab"); }},
      {"empty vocabulary", Fault::corrupt, "", [](Json& j) { j["model"]["vocab"] = Json::object(); }},
      {"a list of tokens", Fault::corrupt, "model.vocab", [](Json& j) { j["model"]["vocab"] = {"a"}; }},
      {"no merges", Fault::corrupt, "model.merges", [](Json& j) { j["model"].erase("merges"); }},
      {"no added tokens", Fault::corrupt, "added_tokens", [](Json& j) { j.erase("added_tokens"); }},
      {"added number", Fault::corrupt, "added_tokens[0]", [](Json& j) { j["added_tokens"][0] = 5; }},
      {"added text", Fault::corrupt, "content", [](Json& j) { j["added_tokens"][4]["content"] = 5; }},
      {"empty text", Fault::corrupt, "no text", [](Json& j) { j["added_tokens"][4]["content"] = ""; }},
      {"added id", Fault::corrupt, "id null", [](Json& j) { j["added_tokens"][4].erase("id"); }},
      {"added twice", Fault::corrupt, "twice", [](Json& j) { j["added_tokens"][4] = j["added_tokens"][5]; }},
      {"id added twice", Fault::corrupt, "id 0 is both", [](Json& j) { j["added_tokens"][4]["id"] = 0; }},
      {"negative id", Fault::corrupt, "id -1", [](Json& j) { j["model"]["vocab"]["!"] = -1; }},
      {"huge id", Fault::corrupt, "id 18446744073709551615",
       [](Json& j) { j["model"]["vocab"]["!"] = std::uint64_t{18446744073709551615U}; }},
      {"id one too large", Fault::corrupt, "id 3200", [](Json& j) { j["model"]["vocab"]["!"] = 3200; }},
      {"id no integer", Fault::corrupt, "id 3.5", [](Json& j) { j["model"]["vocab"]["!"] = 3.5; }},
      {"id a string", Fault::corrupt, "id \"3\"", [](Json& j) { j["model"]["vocab"]["!"] = "3"; }},
      {"id of another", Fault::corrupt, "id 4 is both", [](Json& j) { j["model"]["vocab"]["!"] = 4; }},
      {"id of an added token", Fault::corrupt, "id 3100 is both",
       [](Json& j) { j["model"]["vocab"]["!"] = 3100; }},
      {"empty spelling", Fault::corrupt, "no text",
       [](Json& j) { j["model"]["vocab"].erase("!"), j["model"]["vocab"][""] = 3; }},
      {"missing byte", Fault::corrupt, "byte 33",
       [](Json& j) { j["model"]["vocab"].erase("!"), j["model"]["vocab"]["!!!!!"] = 3; }},
      {"strange letters", Fault::corrupt, "byte letters",
       [](Json& j) { j["model"]["vocab"].erase("!"), j["model"]["vocab"]["你"] = 3; }},
      {"merge number", Fault::corrupt, "model.merges[0]", [](Json& j) { j["model"]["merges"][0] = 1; }},
      {"merge of one", Fault::corrupt, "model.merges[0]", [](Json& j) { j["model"]["merges"][0] = "th"; }},
      {"merge of three", Fault::corrupt, "model.merges[0]",
       [](Json& j) { j["model"]["merges"][0] = "t h e"; }},
      {"merge list of three", Fault::corrupt, "model.merges[0]",
       [](Json& j) {
         j["model"]["merges"][0] = {"t", "h", "e"};
       }},
      {"merge of nothing", Fault::corrupt, "is no token", [](Json& j) { j["model"]["merges"][0] = " h"; }},
      {"merge into nothing", Fault::corrupt, "\"qq\" is no token",
       [](Json& j) { j["model"]["merges"][7] = "q q"; }},
      {"merge twice", Fault::corrupt, "listed before",
       [](Json& j) { j["model"]["merges"][7] = j["model"]["merges"][3]; }},
  };
  for (const Change& change : changes) expect_refused(change);
}

TEST(TokenizerJson, BothSpellingsOfMergesAndAMissingNormalizerAreTheSame) {
  Json json = small();
  json["normalizer"] = nullptr;
  for (Json& merge : json["model"]["merges"]) {
    const auto text = merge.get<std::string>();
    merge = {text.substr(0, text.find(' ')), text.substr(text.find(' ') + 1)};
  }
  const auto tokenizer = Tokenizer::parse(json.dump(), "file");
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message();
  const std::string text = "In the beginning, <｜User｜>\n\nGod created 12345 你好.";
  EXPECT_EQ(tokenizer.value().encode(text, true), small_tokenizer().encode(text, true));
}

TEST(TokenizerJson, BytesThatAreNotJsonAreRefusedWithTheirPlace) {
  const std::string whole = small().dump();
  for (const std::string& bytes :
       {std::string(), std::string("{"), whole.substr(0, whole.size() / 2), whole + "x",
        std::string("{\"a\":\"\xFF\"}"), std::string("\0\0", 2), std::string("{\"model\":1,\"model\":2}")}) {
    const auto opened = Tokenizer::parse(bytes, "file");
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().fault(), Fault::corrupt);
    EXPECT_EQ(opened.error().message().rfind("file: ", 0), 0U) << opened.error().message();
  }
}

TEST(TokenizerJson, DeeplyNestedJsonIsRefusedWithoutRunningOutOfStack) {
  const std::string deep =
      "{\"normalizer\":" + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}";
  EXPECT_FALSE(Tokenizer::parse(deep, "file").ok());
}

}  // namespace
}  // namespace manyspan::text
