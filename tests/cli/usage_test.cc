#include <algorithm>
#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace manyspan::tests {
namespace {

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// Status, one line on standard error that begins with the program's name, nothing on standard output.
void expect_refusal(const Ran& ran, int status, const std::string& part) {
  EXPECT_EQ(ran.status, status) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(lines(ran.err), 1u) << ran.err;
  EXPECT_EQ(ran.err.rfind("manyspan: ", 0), 0u) << ran.err;
  EXPECT_NE(ran.err.find(part), std::string::npos) << ran.err;
}

TEST(Usage, EverySubcommandHelpsWithAnExample) {
  const Ran all = run({"--help"});
  ASSERT_EQ(all.status, 0);
  int seen = 0;
  for (const std::string name : {"run", "chat", "logits", "bench", "inspect", "convert", "verify", "plan",
                                 "encode", "tokenize", "detokenize", "parse", "doctor"}) {
    EXPECT_NE(all.out.find("  " + name), std::string::npos);
    const Ran ran = run({name, "--help"});
    EXPECT_EQ(ran.status, 0);
    EXPECT_EQ(ran.err, "");
    EXPECT_NE(ran.out.find("Example:\n"), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("manyspan " + name), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("--print-config"), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("a section for each subcommand"), std::string::npos) << ran.out;
    ++seen;
  }
  EXPECT_EQ(seen, 13);
}

TEST(Usage, NoSubcommandIsWrongUsage) {
  const Ran ran = run({});
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_NE(ran.err.find("Usage"), std::string::npos);
}

TEST(Usage, AnUnknownSubcommandIsWrongUsage) { expect_refusal(run({"sing"}), 2, "sing: no such subcommand"); }

TEST(Usage, AnUnknownOptionIsWrongUsage) { expect_refusal(run({"doctor", "--loud"}), 2, "--loud"); }

TEST(Usage, AValueThatIsNotAmongTheChoicesIsWrongUsage) {
  expect_refusal(run({"parse", "--mode", "aloud"}), 2, "aloud");
  expect_refusal(run({"parse", "--progress", "sometimes"}), 2, "sometimes");
}

TEST(Usage, BrokenBytesOnTheCommandLineDoNotReachTheTerminal) {
  const Ran ran = run({"parse", "--mode", "\xff\x1b[31m\n"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.err.find('\x1b'), std::string::npos);
  EXPECT_EQ(ran.err.find('\xff'), std::string::npos);
  EXPECT_EQ(lines(ran.err), 1u);
}

TEST(Usage, AnErrorThatCannotBeWrittenKeepsItsStatus) {
  for (const std::string closed : {" 2>/dev/full", " 2>&-"}) {
    EXPECT_EQ(run_shell("\"$0\" nosuch" + closed).status, 2) << closed;
    EXPECT_EQ(run_shell("\"$0\"" + closed).status, 2) << closed;
    EXPECT_EQ(run_shell("\"$0\" inspect /none" + closed).status, 3) << closed;
    const Ran ran = run_shell("\"$0\" run --ids 0 --max-tokens 1 --stats --progress on" + closed);
    EXPECT_EQ(ran.status, 0) << closed;
    EXPECT_NE(ran.out, "") << closed;
  }
}

TEST(Usage, AClosedStreamNeverBecomesAFileOfTheModel) {
  for (const std::string command : {"tokenize", "detokenize", "parse", "chat"}) {
    expect_refusal(run_shell("\"$0\" " + command + " <&-"), 3, "standard input: it is closed");
    expect_refusal(run_shell("\"$0\" " + command + " <&- >&-"), 3, "standard input: it is closed");
    EXPECT_EQ(run_shell("\"$0\" " + command + " <&- >&- 2>&-").status, 3) << command;
  }
  expect_refusal(run_shell("\"$0\" doctor >&-"), 1, "standard output: it is closed");
}

TEST(Usage, AnEmptyNameIsWrongUsage) {
  expect_refusal(run({"run", "--ids", "0", "--table", ""}), 2, "--table: it is empty");
  expect_refusal(run({"doctor", "--config", ""}), 2, "--config: it is empty");
}

TEST(Usage, AClosedOutputEndsQuietly) {
  const Ran ran = run_unread({"doctor"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.err, "");
}

TEST(Usage, CtrlCWhileReadingInputIsStatus130) {
  const Ran ran = run_interrupted({"parse"});
  EXPECT_EQ(ran.status, 130);
  EXPECT_EQ(ran.out, "");
}

TEST(Usage, DoctorNamesTheBundledModel) {
  const Ran ran = run({"doctor", "--json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const auto facts = nlohmann::json::parse(ran.out);
  EXPECT_EQ(facts["bundled_model"], MANYSPAN_SOURCE_DIR "/models/first-light");
  EXPECT_GE(facts["cores"], 1);
  EXPECT_EQ(facts["instruction_sets"][0], "generic");
}

TEST(Parse, SplitsReasoningFromTheAnswer) {
  const Ran ran = run({"parse", "--mode", "thinking", "--json"}, "I think.\n</think>\n\nYes.");
  ASSERT_EQ(ran.status, 0) << ran.err;
  const auto parsed = nlohmann::json::parse(ran.out);
  EXPECT_EQ(parsed["reasoning"], "I think.");
  EXPECT_EQ(parsed["content"], "Yes.");
  EXPECT_TRUE(parsed["tool_calls"].empty());
  EXPECT_TRUE(parsed["stop_sequence"].is_null());
}

TEST(Parse, TakesAStopTextInBracketsAsItStands) {
  const Ran ran = run({"parse", "--json", "--stop", "zzz", "--stop", "[END]"}, "one END [END] two");
  ASSERT_EQ(ran.status, 0) << ran.err;
  const auto parsed = nlohmann::json::parse(ran.out);
  EXPECT_EQ(parsed["content"], "one END ");
  EXPECT_EQ(parsed["stop_sequence"], "[END]");
}

TEST(Parse, AStopTextThatIsNoTextIsWrongUsage) {
  expect_refusal(run({"parse", "--stop", ""}), 2, "--stop: the text is empty");
  expect_refusal(run({"parse", "--stop", "a\xff"}), 2, "--stop: the text is not UTF-8");
}

}  // namespace
}  // namespace manyspan::tests
