#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace manyspan::tests {
namespace {

using nlohmann::json;

const std::string kTiny = MANYSPAN_SOURCE_DIR "/tests/data/t1_base";  // has no tokenizer
const std::string kQuestion = "What is the sign of Orlam Belnes?";
const std::string kAnswer = "The sign of Orlam Belnes is the great throne.";

json json_of(const Ran& ran) {
  EXPECT_EQ(ran.status, 0) << ran.err;
  return json::parse(ran.out, nullptr, false);
}

void expect_refusal(const Ran& ran, int status, const std::string& part) {
  EXPECT_EQ(ran.status, status) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err.rfind("manyspan: ", 0), 0u) << ran.err;
  EXPECT_EQ(ran.err.find('\n'), ran.err.size() - 1) << ran.err;
  EXPECT_NE(ran.err.find(part), std::string::npos) << ran.err;
}

TEST(Run, AnswersAQuestionInText) {
  const Ran ran = run({"run", "-p", kQuestion});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, kAnswer + "\n");
  EXPECT_EQ(ran.err, "");
}

TEST(Run, JsonHoldsTheIdsAndHowItEnded) {
  const json said = json_of(run({"run", "-p", kQuestion, "--json"}));
  EXPECT_EQ(said["text"], kAnswer);
  EXPECT_EQ(said["reasoning"], "");
  EXPECT_EQ(said["tool_calls"], json::array());
  EXPECT_EQ(said["finish_reason"], "stop");
  EXPECT_EQ(said["ids"].back(), 1);  // the stop token
  EXPECT_EQ(said["usage"]["prompt_tokens"], 19);
  EXPECT_EQ(said["usage"]["completion_tokens"], said["ids"].size());
  EXPECT_EQ(said["usage"]["total_tokens"], 19 + said["ids"].size());
  EXPECT_FALSE(said.contains("timings"));
}

TEST(Run, StatsSayWhatWasLoadedAndHowFast) {
  const Ran text = run({"run", "-p", kQuestion, "--stats", "--threads", "1", "--table", "cpu-generic"});
  EXPECT_EQ(text.out, kAnswer + "\n");
  EXPECT_NE(text.err.find("cpu-generic, 1 threads"), std::string::npos) << text.err;
  EXPECT_NE(text.err.find("tok/s"), std::string::npos) << text.err;
  EXPECT_NE(text.err.find("\noff: vision: not in the checkpoint\n"), std::string::npos) << text.err;
  const json said = json_of(run({"run", "-p", kQuestion, "--json", "--stats"}));
  EXPECT_GT(said["timings"]["decode_tokens_per_second"], 0);
  EXPECT_FALSE(said["timings"]["capabilities_off"].empty());
}

TEST(Run, TheAnswerIsTheSameOverSeveralDevices) {
  const Ran late = run({"run", "-p", kQuestion, "--device", "sim:3", "--layer-ends", "3,5,12", "--stats"});
  EXPECT_EQ(late.status, 0) << late.err;
  EXPECT_EQ(late.out, kAnswer + "\n");
  EXPECT_NE(late.err.find("3 stages on sim:3, "), std::string::npos) << late.err;
  const Ran host = run({"run", "-p", kQuestion, "--layer-ends", "6,12", "--stats"});
  EXPECT_EQ(host.out, kAnswer + "\n");
  EXPECT_NE(host.err.find("2 stages on cpu, "), std::string::npos) << host.err;
  Folder folder;
  const std::string options = folder.file("options.yaml", "run: {layer-ends: '6,13'}\n");
  expect_refusal(run({"run", "-p", kQuestion, "--config", options}), 3,
                 options + ": run: --layer-ends: the last layer end is 13; the model has 12 layers");
}

TEST(Run, AllFormsOfAPromptGiveTheSameAnswer) {
  Folder folder;
  const std::string list = R"([{"role": "user", "content": "What is the sign of Orlam Belnes?"}])";
  const std::string ids = "[0,3091,57,74,285,350,261,1921,272,541,84,78,315,390,308,1662,33,3092,3110]";
  const std::string raw = "<｜begin▁of▁sentence｜><｜User｜>" + kQuestion + "<｜Assistant｜></think>";
  for (const std::vector<std::string>& form :
       {std::vector<std::string>{"--messages", folder.file("list.json", list)},
        {"--messages",
         folder.file("body.json", R"({"thinking": {"type": "disabled"}, "messages": )" + list + "}")},
        {"--messages", folder.file("own.json", R"({"thinking_mode": "chat", "messages": )" + list + "}")},
        {"--ids", "0,3091,57,74,285,350,261,1921,272,541,84,78,315,390,308,1662,33,3092,3110"},
        {"--ids", "@" + folder.file("ids.json", ids)},
        {"--ids", "@" + folder.file("object.json", R"({"name": "x", "prompt_len": 4, "ids": )" + ids + "}")},
        {"--raw", "-p", raw}}) {
    std::vector<std::string> arguments = {"run"};
    arguments.insert(arguments.end(), form.begin(), form.end());
    const Ran ran = run(arguments);
    EXPECT_EQ(ran.status, 0) << form[0] << ": " << ran.err;
    EXPECT_EQ(ran.out, kAnswer + "\n") << form[0];
  }
}

TEST(Run, OptionsWinOverTheBodyAndTheBodyOverTheModel) {
  Folder folder;
  const std::string body = folder.file(
      "body.json",
      R"({"max_tokens": 3, "messages": [{"role": "user", "content": "What is the sign of Orlam Belnes?"}]})");
  EXPECT_EQ(json_of(run({"run", "--messages", body, "--json"}))["ids"].size(), 3u);
  EXPECT_EQ(json_of(run({"run", "--messages", body, "--json"}))["finish_reason"], "length");
  EXPECT_EQ(json_of(run({"run", "--messages", body, "--json", "--max-tokens", "5"}))["ids"].size(), 5u);
  const json shown = json_of(run({"run", "--print-config", "--json"}));
  EXPECT_EQ(shown["thinking"]["value"], "off");
  EXPECT_EQ(shown["thinking"]["from"], "generation_config");
  EXPECT_EQ(shown["temperature"]["value"], 0);
}

TEST(Run, AStopTextEndsTheAnswerBeforeIt) {
  const json said = json_of(run({"run", "-p", kQuestion, "--json", "--stop", " is the"}));
  EXPECT_EQ(said["text"], "The sign of Orlam Belnes");
  EXPECT_EQ(said["finish_reason"], "stop");
}

TEST(Run, WhatPrintConfigShowsCanBeGivenBack) {
  Folder folder;
  const std::string file = folder.file("config.yaml", run({"run", "--print-config"}).out);
  EXPECT_EQ(run({"run", "--config", file, "-p", kQuestion}).out, kAnswer + "\n");
}

TEST(Run, ASeedGivesTheSameDrawAgain) {
  const std::vector<std::string> arguments = {"run", "--raw",        "-p", "In the", "--temperature",
                                              "1.5", "--max-tokens", "12", "--json"};
  const auto with = [&](const std::string& seed) {
    std::vector<std::string> all = arguments;
    all.insert(all.end(), {"--seed", seed});
    return json_of(run(all))["ids"];
  };
  EXPECT_EQ(with("7"), with("7"));
  EXPECT_NE(with("7"), with("8"));
}

TEST(Run, AModelWithoutATokenizerTakesAndGivesIds) {
  const Ran ran = run({"run", kTiny, "--ids", "0,50,297,187,220", "--max-tokens", "4"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  const json said = json_of(run({"run", kTiny, "--ids", "0,50,297,187,220", "--max-tokens", "4", "--json"}));
  EXPECT_EQ(said["ids"].size(), 4u);
  EXPECT_EQ(said["text"], "");
  std::string apart;
  for (const json& id : said["ids"]) apart += (apart.empty() ? "" : " ") + id.dump();
  EXPECT_EQ(ran.out, apart + "\n");
  expect_refusal(run({"run", kTiny, "-p", "Hello"}), 3, "no tokenizer: give the prompt as --ids");
}

TEST(Run, WhatIsWrongOnTheCommandLineIsStatus2) {
  expect_refusal(run({"run"}), 2, "give one prompt");
  expect_refusal(run({"run", "-p", "a", "--ids", "1"}), 2, "give one prompt");
  expect_refusal(run({"run", "-p", ""}), 2, "empty");
  expect_refusal(run({"run", "--ids", ""}), 2, "empty");
  expect_refusal(run({"run", "--raw", "-p", ""}), 2, "empty");
  expect_refusal(run({"run", "--raw", "--ids", "1"}), 2, "--raw");
  expect_refusal(run({"run", "-p", "\xff"}), 2, "UTF-8");
  expect_refusal(run({"run", "--ids", "0,x"}), 2, "no token id");
  expect_refusal(run({"run", "--ids", "0,3200"}), 2, "3200");
  expect_refusal(run({"run", "-p", kQuestion, "--context", "8"}), 2, "context of 8");
  expect_refusal(run({"run", "-p", kQuestion, "--context", "5000"}), 2, "4096");
  expect_refusal(run({"run", "-p", kQuestion, "--table", "abacus"}), 2, "abacus");
  expect_refusal(run({"run", "-p", kQuestion, "--stop", ""}), 2, "--stop");
  expect_refusal(run({"run", "-p", kQuestion, "--stop", "a\xff"}), 2, "--stop: the text is not UTF-8");
  expect_refusal(run({"run", "--ids", "1,,2"}), 2, "--ids: entry 2");
  expect_refusal(run({"run", "--ids", "0,3200"}), 2, "--ids: entry 2: token id 3200");
  expect_refusal(run({"run", "-p", kQuestion, "--thinking", "hard"}), 2, "hard");
  expect_refusal(run({"run", "-p", kQuestion, "--top-p", "0"}), 2, "--top-p");
}

TEST(Run, NumbersAreTakenExactlyOrRefusedShortly) {
  for (const std::string option : {"--seed", "--max-tokens", "--top-k", "--threads", "--context"}) {
    for (const std::string wrong : {"-3", "18446744073709551616", "1.5", "0x10", "", "nan", " 1"}) {
      const Ran ran = run({"run", "--ids", "0", option, wrong});
      expect_refusal(ran, 2, option + ": ");
      EXPECT_LT(ran.err.size(), 140u) << ran.err;
    }
  }
  for (const std::string option : {"--temperature", "--top-p", "--min-p"}) {
    for (const std::string wrong : {"nan", "inf", "-1", "1e999", "", "0x1p-1", "101"}) {
      expect_refusal(run({"run", "--ids", "0", option, wrong}), 2, option + ": ");
    }
  }
  for (const std::string seed : {"18446744073709551615", "0010"}) {
    const json shown = json_of(run({"run", "--print-config", "--json", "--seed", seed}));
    EXPECT_EQ(shown["seed"]["value"].dump(), seed == "0010" ? "10" : seed);
  }
}

TEST(Run, WhatIsWrongInAFileIsStatus3) {
  Folder folder;
  for (const std::string text :
       {"", "{", "7", "[]", R"({"messages": 3})", R"([{"role": "king", "content": "x"}])", "\xff"}) {
    const std::string file = folder.file("messages.json", text);
    expect_refusal(run({"run", "--messages", file}), 3, file);
  }
  const std::string ids = folder.file("ids", "[0, 3200]");
  expect_refusal(run({"run", "--ids", "@" + ids}), 3, ids + ": ids: entry 2: token id 3200");
  for (const std::string text :
       {"", "[]", "{}", "1,,2", "[1 2]", R"({"ids": [0, 1], "token_types": [0]})",
        R"({"ids": [0, 1], "token_types": [0, 1]})", R"({"ids": [0, 1], "images": [{}]})"}) {
    const std::string file = folder.file("wrong", text);
    expect_refusal(run({"run", "--ids", "@" + file}), 3, file);
  }
  const std::string good =
      folder.file("good.json", R"([{"role": "user", "content": "one two three four five six"}])");
  expect_refusal(run({"run", "--messages", good, "--context", "4"}), 3, good);
  expect_refusal(run({"run", "--messages", folder.path() + "/none"}), 3, "/none");
  expect_refusal(run({"run", folder.path() + "/none", "-p", "x"}), 3, "/none");
  expect_refusal(run({"run", folder.path(), "-p", "x"}), 3, "config.json");
  folder.file("config.json", "{}");
  expect_refusal(run({"run", folder.path(), "-p", "x"}), 3, "config.json");
  folder.file("generation_config.json", R"({"thinking": "hard"})");
  expect_refusal(run({"run", folder.path(), "-p", "x"}), 3, "generation_config.json");
}

TEST(Run, CtrlCKeepsWhatWasWritten) {
  const Ran ran =
      run_interrupted_at_output({"run", "--raw", "-p", "In the beginning", "--numerics", "strict"});
  EXPECT_EQ(ran.status, 130);
  EXPECT_NE(ran.out, "");
  EXPECT_EQ(ran.out.back(), '\n');
}

TEST(Run, ASecondCtrlCEndsItAtOnce) {
  EXPECT_EQ(
      run_interrupted_at_output({"run", "--raw", "-p", "In the beginning", "--numerics", "strict"}, "", 4)
          .status,
      130);
}

TEST(Run, AReaderThatGoesAwayEndsItQuietly) {
  const Ran ran = run_unread({"run", "--raw", "-p", "In the beginning"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.err, "");
}

TEST(Example, AsksThroughTheLibrary) {
  const Ran ran = run_other(MANYSPAN_EXAMPLE_ASK, {MANYSPAN_SOURCE_DIR "/models/first-light", kQuestion});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, kAnswer + "\n");
  EXPECT_NE(ran.err.find("ended by: stop"), std::string::npos) << ran.err;
}

}  // namespace
}  // namespace manyspan::tests
