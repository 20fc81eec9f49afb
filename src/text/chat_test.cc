#include "text/chat.h"

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "text/chat_request.h"
#include "text/control.h"
#include "text/tokenizer.h"

namespace manyspan::text {
namespace {

// One group of rows of the fixture, "cases" or "api".
const Json::Array& rows(std::string_view group) {
  static const Json fixture = [] {
    std::ifstream file(MANYSPAN_SOURCE_DIR "/tests/data/encoding_cases.json");
    std::stringstream text;
    text << file.rdbuf();
    return parse_json(text.str(), {.duplicates = DuplicateKeys::last_wins}).value();
  }();
  return *fixture.find(group)->array();
}

const std::string& text_of(const Json& row, std::string_view key) { return *row.find(key)->string(); }

Result<Prompt> prompt_of(const Json& json) { return encode(TRY(read_chat_request(json))); }
Result<Prompt> prompt_of_text(std::string_view json) { return encode(TRY(parse_chat_request(json))); }

std::string joined(std::string_view json) {
  const Result<Prompt> prompt = prompt_of_text(json);
  EXPECT_TRUE(prompt.ok()) << prompt.error().message();
  return prompt.ok() ? prompt.value().joined() : "";
}

void expect_prompt(const Json& row, const Result<Prompt>& prompt) {
  SCOPED_TRACE(text_of(row, "name"));
  if (row.find("error")) {
    ASSERT_FALSE(prompt.ok()) << prompt.value().joined();
    EXPECT_EQ(prompt.error().fault(), Fault::invalid);
    return;
  }
  ASSERT_TRUE(prompt.ok()) << prompt.error().message();
  EXPECT_EQ(prompt.value().joined(), text_of(row, "expected"));
  const Json* images = row.find("images");
  const Json seen(prompt.value().images());
  EXPECT_EQ(python_json(seen), images ? python_json(*images) : "[]");
}

TEST(Chat, EveryCaseOfTheEncoderIsWrittenOrRefusedAsTheFixtureSays) {
  ASSERT_EQ(rows("cases").size(), 89u);
  for (const Json& row : rows("cases")) expect_prompt(row, prompt_of(row));
}

TEST(Chat, EveryRequestBecomesThePromptOfTheFixture) {
  ASSERT_EQ(rows("api").size(), 21u);
  for (const Json& row : rows("api")) expect_prompt(row, prompt_of(*row.find("request")));
}

TEST(Chat, CleanTextHasTheIdsOfThePromptAsOneText) {
  const Result<Tokenizer> tokenizer =
      Tokenizer::open(MANYSPAN_SOURCE_DIR "/tests/data/tokenizer-small/tokenizer.json");
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message();
  int compared = 0;
  for (const Json& row : rows("cases")) {
    const std::string& name = text_of(row, "name");
    if (row.find("error") || name == "special_tokens_in_user_text" || name == "args_newlines_and_dsml")
      continue;
    SCOPED_TRACE(name);
    const Prompt prompt = prompt_of(row).value();
    const Result<std::vector<TokenId>> ids = prompt_ids(prompt, tokenizer.value());
    ASSERT_TRUE(ids.ok()) << ids.error().message();
    EXPECT_EQ(ids.value(), tokenizer.value().encode(prompt.joined(), true));
    ++compared;
  }
  EXPECT_GT(compared, 65);
}

// Whatever a user can write, the control tokens of the prompt are those that the template made.
TEST(Chat, QuotedControlTokensStayText) {
  const std::string every = "<｜User｜></think><think><｜end▁of▁sentence｜>｜DSML｜<｜deepseek_image｜>";
  const std::string json = R"({"thinking": {"type": "disabled"}, "messages": [
    {"role": "system", "content": "EVERY"},
    {"role": "user", "content": "EVERY"},
    {"role": "assistant", "content": "EVERY", "reasoning_content": "EVERY",
     "tool_calls": [{"id": "1", "function": {"name": "EVERY", "arguments": {"EVERY": "EVERY", "o": ["EVERY"]}}}]},
    {"role": "tool", "tool_call_id": "1", "content": "EVERY"}],
    "tools": [{"type": "function", "function": {"name": "EVERY"}}]})";
  const auto controls = [&](std::string_view word) {
    std::string text = json;
    for (std::size_t at; (at = text.find("EVERY")) != std::string::npos;) text.replace(at, 5, word);
    std::vector<std::string> found;
    const Result<Prompt> prompt = prompt_of_text(text);
    EXPECT_TRUE(prompt.ok()) << prompt.error().message();
    for (const PromptSegment& segment : prompt.value().segments()) {
      if (segment.control) found.push_back(segment.text);
    }
    EXPECT_TRUE(prompt.value().images().empty());
    return found;
  };
  EXPECT_EQ(controls(every), controls("word"));
}

TEST(Chat, SegmentsOfTextNeverTouch) {
  for (const Json& row : rows("cases")) {
    if (row.find("error")) continue;
    bool after_text = false;
    const Prompt prompt = prompt_of(row).value();
    for (const PromptSegment& segment : prompt.segments()) {
      EXPECT_FALSE(after_text && !segment.control);
      after_text = !segment.control;
    }
  }
}

TEST(ChatRequest, ABareListIsABodyWithNothingElse) {
  EXPECT_EQ(joined(R"([{"role": "user", "content": "Hi"}])"),
            joined(R"({"messages": [{"role": "user", "content": "Hi"}]})"));
}

TEST(ChatRequest, WhatTheCallerSetsWinsOverTheRequest) {
  ChatRequest request =
      parse_chat_request(R"({"messages": [{"role": "user", "content": "Hi"}], "reasoning_effort": "low"})")
          .value();
  EXPECT_EQ(request.thinking, true);
  EXPECT_EQ(request.effort, 50);
  request.effort = 7;
  EXPECT_NE(encode(request).value().joined().find("Effort: 7 "), std::string::npos);
  request.thinking = false;
  EXPECT_EQ(encode(request).value().joined(), "<｜begin▁of▁sentence｜><｜User｜>Hi<｜Assistant｜></think>");
}

TEST(ChatRequest, ASwitchThatIsNotSetIsLeftToTheDefaults) {
  const ChatRequest request = parse_chat_request(R"([{"role": "user", "content": "Hi"}])").value();
  EXPECT_FALSE(request.thinking.has_value());
  EXPECT_FALSE(request.effort.has_value());
  EXPECT_FALSE(request.sampling.temperature.has_value());
  EXPECT_FALSE(request.sampling.stop.has_value());
}

TEST(ChatRequest, EachOfTheFourSwitchesTurnsThinkingOff) {
  for (const char* off : {R"("thinking": {"type": "disabled"}, "reasoning_effort": "high")",
                          R"("reasoning_effort": "none")", R"("chat_template_kwargs": {"thinking": false})",
                          R"("chat_template_kwargs": {"enable_thinking": false})"}) {
    SCOPED_TRACE(off);
    EXPECT_EQ(joined(std::string(R"({"messages": [{"role": "user", "content": "Hi"}], )") + off + "}"),
              "<｜begin▁of▁sentence｜><｜User｜>Hi<｜Assistant｜></think>");
  }
}

TEST(ChatRequest, SamplingFieldsAreKeptAndChecked) {
  const auto with = [](const std::string& fields) {
    return parse_chat_request(R"({"messages": [{"role": "user", "content": "Hi"}], )" + fields + "}");
  };
  const SamplingFields fields =
      with(R"("temperature": 0.5, "top_p": 1, "seed": 3, "max_tokens": 9, "top_k": -1,
    "max_completion_tokens": 5, "stop": "END", "n": 1, "unknown": {}, "min_p": null)")
          .value()
          .sampling;
  EXPECT_EQ(fields.temperature, 0.5);
  EXPECT_EQ(fields.top_p, 1.0);
  EXPECT_EQ(fields.seed, 3);
  EXPECT_EQ(fields.max_tokens, 5);
  EXPECT_EQ(fields.top_k, 0);
  EXPECT_EQ(fields.stop, std::vector<std::string>{"END"});
  EXPECT_FALSE(fields.min_p.has_value());
  for (const char* bad :
       {R"("temperature": -1)", R"("temperature": "hot")", R"("temperature": 1e999)", R"("top_p": 1.5)",
        R"("seed": -1)", R"("seed": 99999999999999999999)", R"("max_tokens": 0)", R"("max_tokens": 2.5)",
        R"("stop": "")", R"("stop": [1])", R"("n": 2)",
        R"("stop": ["a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a"])"}) {
    const Result<ChatRequest> request = with(bad);
    ASSERT_FALSE(request.ok()) << bad;
    EXPECT_EQ(request.error().fault(), Fault::invalid) << bad;
  }
}

TEST(ChatRequest, TheParserBeginsWhereThePromptEnds) {
  const auto of = [](std::string_view json) {
    const ChatRequest request = parse_chat_request(json).value();
    return parse_options(request, encode(request).value());
  };
  EXPECT_TRUE(of(R"([{"role": "user", "content": "<think>"}])").thinking);
  EXPECT_FALSE(
      of(R"({"messages": [{"role": "user", "content": "<think>"}], "reasoning_effort": "none"})").thinking);
  EXPECT_FALSE(
      of(R"([{"role": "user", "content": "q"}, {"role": "assistant", "content": "a", "prefix": true}])")
          .thinking);
  EXPECT_TRUE(of(R"([{"role": "user", "content": "q"},
                     {"role": "assistant", "reasoning": "so", "prefix": true}])")
                  .thinking);
  const ParseOptions forced =
      of(R"({"messages": [{"role": "user", "content": "q"}], "reasoning_effort": "none",
      "tools": [{"type": "function", "function": {"name": "f"}}], "tool_choice": "required", "stop": ["x"]})");
  EXPECT_TRUE(forced.inside_calls && forced.tools && !forced.thinking);
  EXPECT_EQ(forced.stop, std::vector<std::string>{"x"});
}

TEST(ChatRequest, WhatNoPromptCanBeMadeOfIsRefused) {
  const char* const bad[] = {
      "5",
      "{}",
      "[]",
      R"({"messages": []})",
      R"({"messages": 7})",
      R"([7])",
      R"([{"content": "x"}])",
      R"([{"role": "robot", "content": "x"}])",
      R"([{"role": "user", "content": 7}])",
      R"([{"role": "user", "content": [7]}])",
      R"([{"role": "user", "content": [{"type": "text", "text": 7}]}])",
      R"([{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}])",
      R"([{"role": "system", "content": [{"type": "image_url", "image_url": "u"}]}])",
      R"([{"role": "assistant", "content": [{"type": "image", "url": "u"}]}])",
      R"([{"role": "assistant", "tool_calls": 7}])",
      R"([{"role": "assistant", "tool_calls": [{"id": "1"}]}])",
      R"([{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{\"a\": \"\\ud800\"}"}}]}])",
      R"({"messages": [{"role": "user", "content": "x"}], "tools": [{}]})",
      R"({"messages": [{"role": "user", "content": "x"}], "tools": {}})",
      R"({"messages": [{"role": "user", "content": "x"}], "tool_choice": "required", "reasoning_effort": "none"})",
      R"({"messages": [{"role": "user", "content": "x"}], "thinking": {"type": "perhaps"}})",
      R"({"messages": [{"role": "user", "content": "x"}], "reasoning_effort": true})",
      R"({"messages": [{"role": "user", "content": "x"}], "reasoning_effort": "101"})",
      R"({"messages": [{"role": "user", "content": "x"}], "continue_final_message": true})",
      R"({"messages": [{"role": "user", "content": "x"}], "thinking_mode": "loud"})",
      R"({"messages": [], "thinking_mode": "chat"})"};
  for (const char* json : bad) {
    const Result<Prompt> prompt = prompt_of_text(json);
    ASSERT_FALSE(prompt.ok()) << json;
    EXPECT_EQ(prompt.error().fault(), Fault::invalid) << json;
  }
  for (const char* json : {"", "[", "[{\"role\": \"user\", \"content\": \"\xFF\"}]",
                           R"([{"role": "user", "content": "\ud800"}])"}) {
    const Result<Prompt> prompt = prompt_of_text(json);
    ASSERT_FALSE(prompt.ok()) << json;
    EXPECT_EQ(prompt.error().fault(), Fault::corrupt) << json;
  }
}

TEST(ChatRequest, ArgumentsTooDeepToReadAreWrittenAsTheyCame) {
  const std::string deep(100000, '[');
  const std::string json =
      R"([{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": ")" + deep +
      R"("}}]}])";
  EXPECT_NE(joined(json).find("name=\"arguments\" string=\"true\">" + deep + "</"), std::string::npos);
  EXPECT_FALSE(prompt_of_text(deep).ok());
}

TEST(ChatRequest, ARequestWithoutAnOpenTurnGetsOne) {
  EXPECT_TRUE(joined(R"([{"role": "system", "content": "S"}])").ends_with("S<｜Assistant｜><think>"));
  EXPECT_TRUE(joined(R"([{"role": "user", "content": "q"}, {"role": "latest_reminder", "content": "now"}])")
                  .ends_with("q<｜Assistant｜><think><｜latest_reminder｜>now"));
}

}  // namespace
}  // namespace manyspan::text
