#include "engine/generation_config.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temporary_folder.h"

namespace manyspan {
namespace {

class GenerationConfig : public ::testing::Test {
 protected:
  GenerationConfig()
      : blueprint_(
            read_blueprint(read_file(MANYSPAN_SOURCE_DIR "/tests/data/t1_base/config.json", 1 << 20).value())
                .value()) {}

  // What the message says after the file's name.
  std::string refusal(const std::string& text, bool with_config = true) {
    const std::string path = folder_.put("generation_config.json", text);
    const auto read = read_generation_config(path, with_config ? &blueprint_ : nullptr);
    if (read.ok()) return "accepted";
    EXPECT_TRUE(read.error().message().starts_with(path + ": ")) << read.error().message();
    return read.error().message().substr(path.size() + 2);
  }

  TemporaryFolder folder_;
  Blueprint blueprint_;
};

TEST_F(GenerationConfig, AnAbsentFileAndNullsLeaveTheDefaults) {
  const auto absent = read_generation_config(folder_ / "none", &blueprint_);
  ASSERT_TRUE(absent.ok());
  EXPECT_FALSE(absent.value().do_sample);
  EXPECT_EQ(refusal("{}"), "accepted");
  EXPECT_EQ(refusal(R"({"eos_token_id": null, "top_k": null, "temperature": null})"), "accepted");
}

TEST_F(GenerationConfig, WhatItSaysIsTaken) {
  const std::string path =
      folder_.put("generation_config.json",
                  R"({"do_sample": true, "temperature": 0.5, "top_p": 0.9, "top_k": 50, "thinking": 30,
                      "bos_token_id": 0, "eos_token_id": [1], "pad_token_id": 2})");
  const GenerationDefaults d = read_generation_config(path, &blueprint_).value();
  EXPECT_TRUE(d.do_sample);
  EXPECT_EQ(d.temperature, 0.5f);
  EXPECT_EQ(d.top_p, 0.9f);
  EXPECT_EQ(d.thinking, "30");
}

TEST_F(GenerationConfig, IdsThatAreNotTheConfigsAreRefused) {
  EXPECT_EQ(refusal(R"({"eos_token_id": 5})"), "eos_token_id: 5, but config.json has 1");
  EXPECT_EQ(refusal(R"({"bos_token_id": 1})"), "bos_token_id: 1, but config.json has 0");
  EXPECT_EQ(refusal(R"({"pad_token_id": 0})"), "pad_token_id: 0, but config.json has 2");
  EXPECT_EQ(refusal(R"({"eos_token_id": 384})"), "eos_token_id: 384 is outside the vocabulary of 384");
  EXPECT_EQ(refusal(R"({"eos_token_id": -1})"), "eos_token_id: -1 is no token id");
  EXPECT_EQ(refusal(R"({"pad_token_id": 99999999999999999999})"),
            "pad_token_id: 99999999999999999999 is no token id");
  EXPECT_EQ(refusal(R"({"eos_token_id": 5})", false), "accepted");
  EXPECT_EQ(refusal(R"({"eos_token_id": -1})", false), "eos_token_id: -1 is no token id");
}

TEST_F(GenerationConfig, OnlyOneIdMayEndAnAnswer) {
  EXPECT_EQ(refusal(R"({"eos_token_id": [1]})"), "accepted");
  EXPECT_EQ(refusal(R"({"eos_token_id": [1, 3]})"),
            "eos_token_id: a list of 2, only one id that ends an answer is supported, config.json's 1");
  EXPECT_EQ(refusal(R"({"eos_token_id": []})", false),
            "eos_token_id: a list of 0, only one id that ends an answer is supported");
  EXPECT_EQ(refusal(R"({"eos_token_id": [7]})"), "eos_token_id: 7, but config.json has 1");
  EXPECT_EQ(refusal(R"({"eos_token_id": ["a"]})"), "eos_token_id: expected a token id, found a string");
  EXPECT_EQ(refusal(R"({"bos_token_id": [0]})"), "bos_token_id: expected a token id, found an array");
}

TEST_F(GenerationConfig, ValuesOfTheWrongKindOrRangeAreRefused) {
  EXPECT_EQ(refusal(R"({"eos_token_id": "1"})"), "eos_token_id: expected a token id, found a string");
  EXPECT_EQ(refusal(R"({"eos_token_id": 1.0})"),
            "eos_token_id: expected a token id, found a number with a fraction or exponent");
  EXPECT_EQ(refusal(R"({"top_k": -1})"), "top_k: -1 is not between 0 and 2147483647");
  EXPECT_EQ(refusal(R"({"top_k": 4294967296})"), "top_k: 4294967296 is not between 0 and 2147483647");
  EXPECT_EQ(refusal(R"({"top_k": "many"})"), "top_k: expected an integer, found a string");
  EXPECT_EQ(refusal(R"({"top_k": 2.5})"),
            "top_k: expected an integer, found a number with a fraction or exponent");
  EXPECT_EQ(refusal(R"({"temperature": -1})"), "temperature: -1 is not between 0.0 and 100.0");
  EXPECT_EQ(refusal(R"({"temperature": true})"), "temperature: expected a number, found a boolean");
  EXPECT_EQ(refusal(R"({"do_sample": 1})"), "do_sample: expected true or false, found an integer");
  EXPECT_EQ(refusal(R"({"thinking": "much"})"),
            "thinking: expected off, on, low, high, max or 1 to 100, found \"much\"");
  EXPECT_EQ(refusal("[]"), "expected an object, found an array");
}

}  // namespace
}  // namespace manyspan
