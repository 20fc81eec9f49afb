#include "text/parse.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include <gtest/gtest.h>

#include "text/control.h"
#include "text/parse_strict.h"

namespace manyspan::text {
namespace {

using nlohmann::json;

const json& fixture() {
  static const json cases = [] {
    std::ifstream file(MANYSPAN_SOURCE_DIR "/tests/data/parse_cases.json");
    return json::parse(file).at("cases");
  }();
  return cases;
}

ParseOptions options_of(const json& row) {
  return {.thinking = row.at("mode") == "thinking",
          .tools = row.at("parse_tool_calls"),
          .inside_calls = row.at("starts_inside_calls_block"),
          .by_token = false,
          .stop = row.at("stop")};
}

json as_json(const ParsedOutput& parsed) {
  json calls = json::array();
  for (const ParsedCall& call : parsed.calls) {
    calls.push_back({{"name", call.name}, {"arguments", call.arguments}});
  }
  return {{"reasoning", parsed.reasoning}, {"content", parsed.content}, {"tool_calls", calls}};
}

// Feeds pieces that end where `cut` says, and checks on the way that every piece is whole characters.
template <class Cut>
ParsedOutput in_pieces(std::string_view text, ParseOptions options, Cut cut) {
  OutputParser parser(std::move(options));
  ParsedOutput whole;
  const auto add = [&](const std::vector<OutputPiece>& pieces) {
    for (const OutputPiece& piece : pieces) {
      EXPECT_TRUE(json::accept(json(piece.text).dump(-1, ' ', false, json::error_handler_t::strict)));
      whole.add(piece);
    }
  };
  while (!text.empty()) {
    const std::size_t size = std::min<std::size_t>(text.size(), cut());
    add(parser.feed(text.substr(0, size)));
    text.remove_prefix(size);
  }
  add(parser.finish());
  whole.stop_sequence = parser.stop_sequence();
  return whole;
}

void expect_row(const json& row, const ParsedOutput& parsed) {
  json expected = row.at("stream");
  const json stop = expected.at("stop_sequence");
  expected.erase("stop_sequence");
  for (json& call : expected.at("tool_calls")) call.erase("arguments_valid_json");
  EXPECT_EQ(as_json(parsed), expected);
  EXPECT_EQ(parsed.stop_sequence.has_value(), !stop.is_null());
  if (!stop.is_null()) {
    EXPECT_EQ(parsed.stop_sequence, stop.get<std::string>());
  }
}

TEST(Parse, EveryRowOfTheFixtureIsSplitAsItSays) {
  ASSERT_EQ(fixture().size(), 50u);
  for (const json& row : fixture()) {
    SCOPED_TRACE(row.at("name"));
    expect_row(row, parse_output(row.at("text").get<std::string>(), options_of(row)));
  }
}

TEST(Parse, OneByteAtATimeGivesTheSame) {
  for (const json& row : fixture()) {
    SCOPED_TRACE(row.at("name"));
    expect_row(row, in_pieces(row.at("text").get<std::string>(), options_of(row), [] { return 1; }));
  }
}

TEST(Parse, AnyOtherCuttingGivesTheSame) {
  std::mt19937 random(7);
  for (const json& row : fixture()) {
    SCOPED_TRACE(row.at("name"));
    const std::string text = row.at("text");
    for (int trial = 0; trial < 20; ++trial) {
      expect_row(row, in_pieces(text, options_of(row), [&] { return 1 + random() % 9; }));
    }
  }
}

// Texts made of the markers' own parts meet every half-finished match.
TEST(Parse, CuttingNeverMattersForRandomMarkup) {
  const std::string_view parts[] = {"\n",
                                    "\n\n",
                                    "<",
                                    "</",
                                    "｜DSML｜",
                                    " calls>",
                                    " invoke name=\"",
                                    "parameter name=\"",
                                    "\"",
                                    " string=\"true\">",
                                    " string=\"false\">",
                                    "</think>",
                                    "</thi",
                                    "a",
                                    "ab",
                                    "é",
                                    "\xE2",
                                    "\x80",
                                    "\xFF",
                                    "invoke>"};
  std::mt19937 random(11);
  for (int trial = 0; trial < 1000; ++trial) {
    std::string text;
    for (int i = 0; i < 30; ++i) text += parts[random() % std::size(parts)];
    const ParseOptions options{.thinking = trial % 2 == 0,
                               .tools = trial % 5 != 0,
                               .inside_calls = trial % 7 == 0,
                               .by_token = false,
                               .stop = trial % 3 == 0 ? std::vector<std::string>{"aba", "\na", "ab\n\n\n"}
                                                      : std::vector<std::string>{}};
    const ParsedOutput whole = parse_output(text, options);
    const ParsedOutput bytes = in_pieces(text, options, [] { return 1; });
    ASSERT_EQ(as_json(whole), as_json(bytes)) << text;
    ASSERT_EQ(whole.stop_sequence, bytes.stop_sequence) << text;
  }
}

TEST(Parse, TextThatCanBeNoMarkerIsNotHeldBack) {
  OutputParser parser(
      {.thinking = false, .tools = true, .inside_calls = false, .by_token = false, .stop = {"STOP"}});
  EXPECT_EQ(parser.feed("Hello").at(0).text, "Hello");
  EXPECT_TRUE(parser.feed(" S").size() == 1);  // the space goes, the S may be a stop string
  EXPECT_EQ(parser.feed("o").at(0).text, "So");
  EXPECT_TRUE(parser.feed("\n\n<｜DS").empty());
  EXPECT_EQ(parser.feed("x").at(0).text, "\n\n<｜DSx");
}

TEST(Parse, TheLongestOfTheStopStringsThatEndTogetherIsCutOff) {
  const ParsedOutput parsed = parse_output(
      "x ab",
      {.thinking = false, .tools = true, .inside_calls = false, .by_token = false, .stop = {"b", "ab", ""}});
  EXPECT_EQ(parsed.content, "x ");
  EXPECT_EQ(parsed.stop_sequence, "ab");
}

TEST(Parse, SpelledMarkersAreTextWhereOnlyTokensCount) {
  const ParseOptions options{
      .thinking = true, .tools = true, .inside_calls = false, .by_token = true, .stop = {}};
  OutputParser parser(options);
  ParsedOutput parsed;
  const auto add = [&](const std::vector<OutputPiece>& pieces) {
    for (const OutputPiece& piece : pieces) parsed.add(piece);
  };
  add(parser.feed("say </think> and <｜DSML｜ calls>\n\n"));
  add(parser.feed_control(kThinkEnd));
  add(parser.feed("Quote: </｜DSML｜ calls>.\n\n<"));
  add(parser.feed_control(kDsml));
  add(parser.feed(" calls>\n<"));
  add(parser.feed_control(kDsml));
  add(parser.feed(" invoke name=\"f\">\n<"));
  add(parser.feed_control(kDsml));
  add(parser.feed(" parameter name=\"a\" string=\"true\">has </｜DSML｜ in it</"));
  add(parser.feed_control(kDsml));
  add(parser.feed(" parameter>\n</"));
  add(parser.feed_control(kDsml));
  add(parser.feed(" invoke>\n</"));
  add(parser.feed_control(kDsml));
  add(parser.feed(" calls>"));
  EXPECT_TRUE(parser.done());
  EXPECT_EQ(parsed.reasoning, "say </think> and <｜DSML｜ calls>");
  EXPECT_EQ(parsed.content, "Quote: </｜DSML｜ calls>.");
  ASSERT_EQ(parsed.calls.size(), 1u);
  EXPECT_EQ(parsed.calls[0].arguments, "{\"a\": \"has </｜DSML｜ in it\"}");
}

TEST(Parse, BytesThatAreNoUtf8BecomeReplacementCharacters) {
  EXPECT_EQ(parse_output("a\xC3(\xF0\x9F\x98", {}).content, "a\uFFFD(\uFFFD");
}

TEST(Parse, AMegabyteWithoutAnEndIsNoTrouble) {
  const std::string call = "<｜DSML｜ calls><｜DSML｜ invoke name=\"";
  const std::string megabyte(1 << 20, 'n');
  const ParsedOutput unfinished = parse_output(call + megabyte, {});
  EXPECT_TRUE(unfinished.calls.empty());
  const ParsedOutput named = parse_output(call + megabyte + "\">", {});
  ASSERT_EQ(named.calls.size(), 1u);
  EXPECT_EQ(named.calls[0].name.size(), kLongestToolName);

  const std::string value = call + "f\"><｜DSML｜ parameter name=\"a\" string=\"false\">";
  EXPECT_EQ(parse_output(value + std::string(1 << 20, '['), {}).calls[0].arguments.size(), (1u << 20) + 6);

  const std::string newlines(1 << 17, '\n');
  EXPECT_EQ(in_pieces("a" + newlines + "b", {}, [] { return 1; }).content.size(), newlines.size() + 2);
  const ParseOptions long_stop{.thinking = false,
                               .tools = true,
                               .inside_calls = false,
                               .by_token = false,
                               .stop = {std::string(1 << 18, 'n') + "b"}};
  EXPECT_EQ(parse_output(megabyte, long_stop).content, megabyte);
}

TEST(ParseStrict, EveryRowOfTheFixtureIsSplitOrRefusedAsItSays) {
  for (const json& row : fixture()) {
    if (row.at("starts_inside_calls_block")) continue;  // the strict form has no such start
    SCOPED_TRACE(row.at("name"));
    const Result<ParsedOutput> parsed =
        parse_strict(row.at("text").get<std::string>(), row.at("mode") == "thinking");
    const json& expected = row.at("strict");
    if (expected.contains("error")) {
      ASSERT_FALSE(parsed.ok());
      EXPECT_NE(expected.at("error").get<std::string>().find(parsed.error().message()), std::string::npos)
          << parsed.error().message();
    } else {
      ASSERT_TRUE(parsed.ok()) << parsed.error().message();
      EXPECT_EQ(as_json(parsed.value()), expected);
    }
  }
}

}  // namespace
}  // namespace manyspan::text
