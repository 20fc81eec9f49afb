#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace manyspan::tests {
namespace {

class ConfigFile : public testing::Test {
 protected:
  Ran with(const std::string& yaml, std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--config", folder_.file("options.yaml", yaml)});
    return run(arguments);
  }

  // Status 3, and one line that names the file and holds `part`.
  void expect_refused(const std::string& yaml, const std::string& part) {
    const Ran ran = with(yaml, {"parse"});
    EXPECT_EQ(ran.status, 3) << yaml << ran.err;
    EXPECT_NE(ran.err.find("options.yaml: "), std::string::npos) << ran.err;
    EXPECT_NE(ran.err.find(part), std::string::npos) << ran.err;
    EXPECT_EQ(ran.out, "");
  }

  Folder folder_;
};

TEST_F(ConfigFile, EveryValueNamesItsSource) {
  const Ran ran = with("parse:\n  mode: thinking\n  stop: [a, '[b]']\n  no-tools: true\n",
                       {"parse", "--print-config", "--json", "--log-level", "warn"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const auto shown = nlohmann::json::parse(ran.out);
  EXPECT_EQ(shown["mode"], nlohmann::json({{"value", "thinking"}, {"from", "config file"}}));
  EXPECT_EQ(shown["stop"]["value"], nlohmann::json({"a", "[b]"}));
  EXPECT_EQ(shown["no-tools"], nlohmann::json({{"value", true}, {"from", "config file"}}));
  EXPECT_EQ(shown["inside-calls"], nlohmann::json({{"value", false}, {"from", "default"}}));
  EXPECT_EQ(shown["log-level"], nlohmann::json({{"value", "warn"}, {"from", "command line"}}));
  EXPECT_EQ(shown["progress"], nlohmann::json({{"value", "auto"}, {"from", "default"}}));
}

TEST_F(ConfigFile, TheCommandLineWins) {
  const Ran ran = with("parse: {mode: thinking}\n", {"parse", "--mode", "chat", "--json", "--print-config"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const auto shown = nlohmann::json::parse(ran.out);
  EXPECT_EQ(shown["mode"], nlohmann::json({{"value", "chat"}, {"from", "command line"}}));
}

TEST_F(ConfigFile, WhatPrintConfigShowsCanBeReadBack) {
  const Ran first = run({"parse", "--print-config", "--mode", "thinking", "--stop", "x: #y", "--no-tools"});
  ASSERT_EQ(first.status, 0) << first.err;
  const Ran second = with(first.out, {"parse", "--print-config", "--json"});
  ASSERT_EQ(second.status, 0) << second.err;
  const auto shown = nlohmann::json::parse(second.out);
  EXPECT_EQ(shown["mode"]["value"], "thinking");
  EXPECT_EQ(shown["stop"]["value"], nlohmann::json({"x: #y"}));
  EXPECT_EQ(shown["no-tools"]["value"], true);
  EXPECT_EQ(shown["inside-calls"]["value"], false);
}

TEST_F(ConfigFile, IsObeyed) {
  Folder folder;
  const std::string file = folder.file("options.yaml", "parse: {mode: thinking, json: true}\n");
  const Ran ran = run({"parse", "--config", file}, "a</think>b");
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(nlohmann::json::parse(ran.out)["reasoning"], "a");
}

TEST_F(ConfigFile, UnknownNamesAreErrors) {
  expect_refused("sing: {loud: true}\n", "sing: no such subcommand");
  expect_refused("parse: {moode: chat}\n", "parse: moode: no such option");
  expect_refused("doctor: {mode: chat}\n", "doctor: mode: no such option");
  expect_refused("parse: {config: other.yaml}\n", "parse: config: no such option");
}

TEST_F(ConfigFile, BadValuesAndShapesAreErrors) {
  expect_refused("parse: {mode: aloud}\n", "aloud");
  expect_refused("parse: {mode: [chat, chat]}\n", "mode");
  expect_refused("parse: {json: perhaps}\n", "json");
  expect_refused("parse: {mode: {a: b}}\n", "mode: needs a value");
  expect_refused("parse: {mode: }\n", "mode: needs a value");
  expect_refused("parse: chat\n", "parse: needs");
  expect_refused("[parse]\n", "needs a section");
  expect_refused("parse: {mode: chat, mode: chat}\n", "mode: given twice");
  expect_refused("parse: {mode: chat\n", "line");
  expect_refused(std::string(100000, '['), "line");
  expect_refused("parse: {mode: \"\xff\xfe\"}\n", "options.yaml");
}

TEST_F(ConfigFile, AnOptionOutsideASectionIsToldWhereItBelongs) {
  expect_refused("mode: thinking\n", "under a section named as the subcommand, as parse: {mode: thinking}");
  expect_refused("stop: [a, b]\n", "as parse: {stop: ...}");
}

TEST_F(ConfigFile, WhatIsRefusedOnlyLaterIsTheFilesFaultToo) {
  expect_refused("parse: {stop: ''}\n", "parse: --stop: the text is empty");
  const Ran ran = with("logits: {chunks: '3,0'}\n", {"logits", "--ids", "x", "--out", folder_.path() + "/y"});
  EXPECT_EQ(ran.status, 3) << ran.err;
  EXPECT_NE(ran.err.find("options.yaml: logits: --chunks"), std::string::npos) << ran.err;
  EXPECT_EQ(with("parse: {mode: thinking}\n", {"parse", "--stop", ""}).status, 2);
}

TEST_F(ConfigFile, AFileThatIsNotThereIsRefused) {
  const Ran ran = run({"parse", "--config", folder_.path() + "/none.yaml"});
  EXPECT_EQ(ran.status, 3);
  EXPECT_NE(ran.err.find("none.yaml: No such file"), std::string::npos) << ran.err;
  EXPECT_EQ(run({"parse", "--config", folder_.path()}).status, 3);
}

}  // namespace
}  // namespace manyspan::tests
