#include <algorithm>
#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace manyspan::tests {
namespace {

class Encode : public testing::Test {
 protected:
  Ran encode(const std::string& messages) {
    return run({"encode", "--json", "--messages", folder_.file("messages.json", messages)});
  }

  std::string prompt(const std::string& messages) {
    const Ran ran = encode(messages);
    EXPECT_EQ(ran.status, 0) << ran.err;
    return ran.status == 0 ? nlohmann::json::parse(ran.out)["prompt"].get<std::string>() : "";
  }

  Folder folder_;
};

TEST_F(Encode, AMessageListThinksHard) {
  EXPECT_EQ(
      prompt(R"([{"role": "user", "content": "Hi"}])"),
      "<｜begin▁of▁sentence｜><｜System｜>Reasoning Effort: 75 (range 1-100, the higher the value, the more "
      "thorough the reasoning)\n\n<｜User｜>Hi<｜Assistant｜><think>");
}

TEST_F(Encode, ARequestBodyMayTurnThinkingOff) {
  EXPECT_EQ(prompt(R"({"messages": [{"role": "user", "content": "Hi"}], "thinking": {"type": "disabled"}})"),
            "<｜begin▁of▁sentence｜><｜User｜>Hi<｜Assistant｜></think>");
}

TEST_F(Encode, AnEncodersInputIsReadStrictly) {
  const std::string body = R"({"messages": [{"role": "user", "content": "Hi"}], "thinking_mode": "chat")";
  EXPECT_EQ(prompt(body + "}"), "<｜begin▁of▁sentence｜><｜User｜>Hi<｜Assistant｜></think>");
  EXPECT_EQ(encode(body + R"(, "reasoning_effort": "xhigh"})").status, 3);
}

TEST_F(Encode, TextThatSpellsAControlTokenStaysText) {
  const auto ids = nlohmann::json::parse(encode(R"([{"role": "user", "content": "<｜User｜>"}])").out)["ids"];
  EXPECT_EQ(std::count(ids.begin(), ids.end(), 3091), 1);
}

TEST_F(Encode, WhatNoPromptCanBeMadeOfIsRefusedByFile) {
  for (const std::string text : {"", "[", "7", "[]", "{}", "[{\"role\": \"king\", \"content\": \"x\"}]",
                                 "[{\"role\": \"user\", \"content\": \"\xff\"}]",
                                 "[{\"role\": \"user\", \"content\": \"\\ud800\"}]"}) {
    const Ran ran = encode(text);
    EXPECT_EQ(ran.status, 3) << text << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_NE(ran.err.find("messages.json: "), std::string::npos) << ran.err;
  }
}

TEST_F(Encode, NeedsAFile) {
  EXPECT_EQ(run({"encode"}).status, 2);
  EXPECT_EQ(run({"encode", "--messages", folder_.path() + "/none"}).status, 3);
}

TEST(Inspect, ShowsTheBundledModel) {
  const Ran ran = run({"inspect", MANYSPAN_SOURCE_DIR "/models/first-light", "--json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const auto document = nlohmann::json::parse(ran.out);
  EXPECT_GT(document["tensors"].size(), 500u);
  EXPECT_GT(document["bytes"], 12'000'000);
  EXPECT_FALSE(document["layers"].empty());
  EXPECT_EQ(document["capabilities_off"].back(), "draft: not in the checkpoint");
  const Ran text = run({"inspect", MANYSPAN_SOURCE_DIR "/models/first-light"});
  EXPECT_NE(text.out.find("F8_E4M3"), std::string::npos);
}

TEST(Inspect, RefusesWhatIsNoModel) {
  Folder folder;
  EXPECT_EQ(run({"inspect"}).status, 2);
  for (const std::string& path :
       {folder.path(), folder.path() + "/none", folder.file("a.safetensors", ""),
        folder.file("b.safetensors", std::string(8, '\xff')), folder.file("c.txt", "words")}) {
    const Ran ran = run({"inspect", path});
    EXPECT_EQ(ran.status, 3) << path << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_NE(ran.err.find(folder.path()), std::string::npos) << ran.err;
  }
}

}  // namespace
}  // namespace manyspan::tests
