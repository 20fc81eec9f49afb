#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace manyspan::tests {
namespace {

using nlohmann::json;

const std::string kQuestion = "What is the sign of Orlam Belnes?";
const std::string kAnswer = "The sign of Orlam Belnes is the great throne.";

std::vector<json> json_lines(const std::string& text) {
  std::vector<json> documents;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) documents.push_back(json::parse(line, nullptr, false));
  return documents;
}

json json_in(const std::string& path) {
  std::ifstream file(path);
  return json::parse(file, nullptr, false);
}

TEST(Chat, AnswersEachLineOfAScript) {
  const Ran ran = run({"chat"}, kQuestion + "\n\n" + kQuestion);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out.rfind(kAnswer + "\n", 0), 0u) << ran.out;
  EXPECT_EQ(ran.err, "");
}

TEST(Chat, ALaterTurnReadsOnlyWhatIsNew) {
  const Ran ran =
      run({"chat", "--json", "--stats", "--max-tokens", "24"}, kQuestion + "\n" + kQuestion + "\n");
  ASSERT_EQ(ran.status, 0) << ran.err;
  const std::vector<json> turns = json_lines(ran.out);
  ASSERT_EQ(turns.size(), 2u);
  const std::int64_t first = turns[0]["usage"]["total_tokens"];
  EXPECT_EQ(turns[0]["timings"]["reused_tokens"], 0);
  EXPECT_EQ(turns[1]["timings"]["reused_tokens"], first - 1);  // its stop token was never run
}

TEST(Chat, ResetForgets) {
  const Ran ran = run({"chat", "--json"}, kQuestion + "\n/reset\n" + kQuestion + "\n/quit\nnever read\n");
  ASSERT_EQ(ran.status, 0) << ran.err;
  const std::vector<json> turns = json_lines(ran.out);
  ASSERT_EQ(turns.size(), 2u);
  EXPECT_EQ(turns[0], turns[1]);
}

TEST(Chat, ABackslashGoesOnInTheNextLine) {
  Folder folder;
  const std::string file = folder.path() + "/said.json";
  const Ran ran = run({"chat", "--max-tokens", "2"}, "one\\\ntwo\n/save " + file + "\n");
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(json_in(file)[0]["content"], "one\ntwo");
}

TEST(Chat, WhatIsSavedGoesOnWhenLoadedAndIsAPrompt) {
  Folder folder;
  const std::string file = folder.path() + "/said.json";
  ASSERT_EQ(run({"chat"}, kQuestion + "\n/save " + file + "\n").status, 0);
  EXPECT_EQ(json_in(file), json::array({{{"role", "user"}, {"content", kQuestion}},
                                        {{"role", "assistant"}, {"content", kAnswer}}}));
  EXPECT_EQ(run({"encode", "--messages", file}).status, 0);

  const Ran whole = run({"chat", "--json", "--max-tokens", "8"}, kQuestion + "\nAnd then?\n");
  const Ran loaded = run({"chat", "--json", "--max-tokens", "8"}, "/load " + file + "\nAnd then?\n");
  ASSERT_EQ(loaded.status, 0) << loaded.err;
  EXPECT_NE(loaded.err.find("2 messages"), std::string::npos) << loaded.err;
  ASSERT_EQ(json_lines(whole.out).size(), 2u);
  EXPECT_GT(json_lines(loaded.out).at(0)["usage"]["prompt_tokens"], 19);
}

TEST(Chat, SayingThatItSavedIsOneLineUnlessQuiet) {
  Folder folder;
  const std::string file = folder.path() + "/said.json";
  EXPECT_EQ(run({"chat"}, "/save " + file + "\n").err, file + ": 0 messages saved\n");
  EXPECT_EQ(run({"chat", "--quiet"}, "/save " + file + "\n").err, "");
}

TEST(Chat, BlanksMayStandAroundACommand) {
  const Ran ran = run({"chat"}, " \t/reset \n  /quit  \n/sing\n");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, "");
}

TEST(Chat, HelpSaysHowAScriptEnds) {
  EXPECT_NE(run({"chat", "--help"}).out.find("ends the program with its status"), std::string::npos);
}

TEST(Chat, StatsNameWhatWasLoaded) {
  const Ran ran = run({"chat"}, "/stats\n");
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.out, "");
  EXPECT_NE(ran.err.find("first-light"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("\noff: vision: "), std::string::npos) << ran.err;
}

TEST(Chat, AScriptStopsAtWhatIsWrong) {
  Folder folder;
  const std::string broken = folder.file("broken.json", "{");
  const struct {
    std::string line, says;
    int status;
  } kCases[] = {{"/sing", "no such command", 2},
                {"/save", "name a file", 2},
                {"/load " + broken, "broken.json", 3},
                {"/load " + folder.path() + "/none", "/none", 3},
                {"/save " + folder.path() + "/none/x", "/none/x", 1},
                {"/save " + folder.path(), "a directory", 1},
                {"/save " MANYSPAN_SOURCE_DIR "/models/first-light/config.json", "a file of the model", 2}};
  for (const auto& wrong : kCases) {
    const Ran ran = run({"chat"}, wrong.line + "\n" + kQuestion + "\n");
    EXPECT_EQ(ran.status, wrong.status) << wrong.line << ": " << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_NE(ran.err.find(wrong.says), std::string::npos) << ran.err;
  }
  EXPECT_EQ(run({"chat", "--context", "8"}, kQuestion + "\n").status, 2);
  EXPECT_EQ(run({"chat", MANYSPAN_SOURCE_DIR "/tests/data/t1_base"}, "hello\n").status, 3);
}

TEST(Chat, CtrlCEndsAnAnswerAndKeepsTheConversation) {
  Folder folder;
  const std::string file = folder.path() + "/said.json";
  // So hot that every token is as likely as any other: the answer is long.
  // Pressed again at once it still means the answer.
  const Ran ran = run_interrupted_at_output({"chat", "--numerics", "strict", "--temperature", "50"},
                                            "Tell me of the days of old.\n/save " + file + "\n", 3);
  EXPECT_EQ(ran.status, 0) << ran.err;
  ASSERT_NE(ran.out, "");
  ASSERT_EQ(json_in(file).size(), 2u);
  const std::string said = json_in(file)[1]["content"];
  EXPECT_EQ(ran.out, said.ends_with('\n') ? said : said + "\n");
}

}  // namespace
}  // namespace manyspan::tests
