#include "base/json.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace manyspan {
namespace {

std::string python(std::string_view text) {
  const auto json = parse_json(text);
  return json.ok() ? python_json(json.value()) : json.error().message();
}

std::string refusal(std::string_view text, const JsonLimits& limits = {}) {
  const auto json = parse_json(text, limits);
  return json.ok() ? "read as " + compact_json(json.value()) : json.error().message();
}

TEST(Json, NumbersPrintAsPythonPrintsThem) {
  const std::pair<const char*, const char*> kCases[] = {
      {"1.0", "1.0"},
      {"1e5", "100000.0"},
      {"1E-7", "1e-07"},
      {"-0.0", "-0.0"},
      {"0.0", "0.0"},
      {"0e5", "0.0"},
      {"123456789012345678901234567890", "123456789012345678901234567890"},
      {"-123456789012345678901234567890", "-123456789012345678901234567890"},
      {"18446744073709551615", "18446744073709551615"},
      {"18446744073709551616", "18446744073709551616"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"-9223372036854775809", "-9223372036854775809"},
      {"-0", "0"},
      {"0.1", "0.1"},
      {"1e400", "Infinity"},
      {"-1e400", "-Infinity"},
      {"1e-400", "0.0"},
      {"0.0001", "0.0001"},
      {"0.00001", "1e-05"},
      {"0.00012345", "0.00012345"},
      {"123456.789e3", "123456789.0"},
      {"1e15", "1000000000000000.0"},
      {"9999999999999998.0", "9999999999999998.0"},
      {"1e16", "1e+16"},
      {"1.5e22", "1.5e+22"},
      {"1.7976931348623157e308", "1.7976931348623157e+308"},
      {"5e-324", "5e-324"},
      {"2.2250738585072014e-308", "2.2250738585072014e-308"},
      {"3.141592653589793", "3.141592653589793"},
      {"100", "100"},
      {"12.5", "12.5"},
  };
  for (const auto& [text, expected] : kCases) EXPECT_EQ(python(text), expected) << text;
}

TEST(Json, NumbersPastADoubleKeepTheirPlaces) {
  const std::string digits = "1" + std::string(400, '2');
  EXPECT_EQ(python("[1, " + digits + ", \"1e999\", -" + digits + ", 1e999, 7, -2.5E+999]"),
            "[1, " + digits + ", \"1e999\", -" + digits + ", Infinity, 7, -Infinity]");
  // Many digits and a small exponent: too small, too large, or neither.
  EXPECT_EQ(python("0." + std::string(400, '0') + "1"), "0.0");
  EXPECT_EQ(python(digits + "e-5"), "Infinity");
  EXPECT_EQ(python("0." + std::string(400, '0') + "1e401"), "1.0");
  EXPECT_EQ(python("0." + std::string(400, '0') + "1e900"), "Infinity");
  EXPECT_EQ(python("1e99999999999999999999"), "Infinity");
  EXPECT_EQ(python("1e-99999999999999999999"), "0.0");
  EXPECT_EQ(python("0e99999999999999999999"), "0.0");
  EXPECT_NE(refusal("[1e999, 01]").find("JSON line 1"), std::string::npos);
  EXPECT_EQ(parse_json(digits).value().number(), std::numeric_limits<double>::infinity());
}

TEST(Json, EveryDoubleReadsBackAsItself) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t bits = random();
    double value;
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isfinite(value)) continue;
    const auto again = parse_json(python_json(Json(value)));
    ASSERT_TRUE(again.ok()) << python_json(Json(value));
    ASSERT_EQ(again.value().number(), value);
  }
}

TEST(Json, EscapesAreWrittenAsPythonWritesThem) {
  EXPECT_EQ(python(R"("\u0001\u001f\b\f\n\r\t\"\\\/\u007f\u2028\u00e9\ud83d\ude00")"),
            "\"\\u0001\\u001f\\b\\f\\n\\r\\t\\\"\\\\/\x7f\u2028\u00e9\U0001F600\"");
  EXPECT_EQ(python("\"\\u0000\""), "\"\\u0000\"");
}

TEST(Json, TheTwoStylesDifferInSpacesAndInWhatIsNotANumber) {
  const Json json = Json().set("b", Json().push(1).push("x").push(nullptr)).set("a", true).set("e", HUGE_VAL);
  EXPECT_EQ(python_json(json), R"({"b": [1, "x", null], "a": true, "e": Infinity})");
  EXPECT_EQ(compact_json(json), R"({"b":[1,"x",null],"a":true,"e":null})");
  EXPECT_EQ(python("[ ]"), "[]");
  EXPECT_EQ(python("{ }"), "{}");
}

TEST(Json, MembersKeepTheirOrder) {
  EXPECT_EQ(python(R"({"z":1,"a":2,"m":3})"), R"({"z": 1, "a": 2, "m": 3})");
}

TEST(Json, ARepeatedKeyIsRefusedAtAnyDepthByItsName) {
  EXPECT_EQ(refusal("{\"a\":1,\n \"k\":{\"b\":1,\"c\":2,\"b\":3}}"),
            "JSON line 2, column 21: duplicate key \"b\"");
  EXPECT_EQ(refusal(R"({"a":1,"\u0061":2})").substr(0, 12), "JSON line 1,");
  EXPECT_EQ(python(R"([{"a":1},{"a":1}])"), R"([{"a": 1}, {"a": 1}])");
}

TEST(Json, LastWinsKeepsTheFirstPlace) {
  const JsonLimits lenient{.duplicates = DuplicateKeys::last_wins};
  const auto json = parse_json(R"({"a":1,"b":{"x":1,"x":[2]},"a":3})", lenient);
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(python_json(json.value()), R"({"a": 3, "b": {"x": [2]}})");
}

TEST(Json, DepthIsBounded) {
  EXPECT_NE(refusal(std::string(1'000'000, '[')).find("nested deeper than 128"), std::string::npos);
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  EXPECT_NE(refusal(objects).find("nested deeper than 128"), std::string::npos);
  EXPECT_EQ(refusal("[[[1]]]", {.depth = 3}), "read as [[[1]]]");
  EXPECT_EQ(refusal("[[[[1]]]]", {.depth = 3}), "JSON line 1, column 4: nested deeper than 3");
}

TEST(Json, TheNumberOfValuesIsBounded) {
  EXPECT_EQ(refusal("[1,2]", {.values = 3}), "read as [1,2]");
  EXPECT_NE(refusal("[1,2,3]", {.values = 3}).find("more than 3 values"), std::string::npos);
}

TEST(Json, WhatIsNotJsonIsRefusedWithItsPlace) {
  const std::string_view kBad[] = {
      "",
      " ",
      "{",
      "[1,]",
      "{\"a\":1,}",
      "NaN",
      "Infinity",
      "-Infinity",
      "nan",
      "// c\n1",
      "1 // c",
      "/* c */ 1",
      "'a'",
      "{a:1}",
      "01",
      "+1",
      "1.",
      ".5",
      "1e",
      "- 1",
      "0x10",
      "True",
      "[1] 2",
      "[1]]",
      "{\"a\" 1}",
      "\"a\nb\"",
      "\"a\tb\"",
      "\"\\x41\"",
      "\"\\u12\"",
      "\"\\ud800\"",
      "\"\\udc00\"",
      "\"\\ud800\\u0041\"",
      "\"\xff\"",
      "\"\xc0\xaf\"",
      "\"\xed\xa0\x80\"",
      "\"\xf4\x90\x80\x80\"",
      "\"\xe2\x82\"",
      "\xef\xbb\xbf{}",
      "\"a",
      std::string_view("1\0", 2),
      std::string_view("\"a\0b\"", 5),
      std::string_view("[1]\0 junk", 9),
      "\x0b"
      "1",
  };
  for (const auto text : kBad) {
    const std::string why = refusal(text);
    EXPECT_EQ(why.substr(0, 10), "JSON line ") << text << ": " << why;
  }
  EXPECT_EQ(refusal("\"\xff\""), "JSON line 1, column 2: invalid UTF-8 in a string");
  EXPECT_EQ(refusal("{\n  \"a\": tru\n}").substr(0, 19), "JSON line 2, column");
}

TEST(Json, ALongBadTextGivesAShortMessage) {
  EXPECT_LT(refusal("\"" + std::string(1'000'000, 'x')).size(), 300u);
  EXPECT_LT(
      refusal("{\"" + std::string(100'000, 'x') + "\":1,\"" + std::string(100'000, 'x') + "\":1}").size(),
      300u);
}

TEST(Json, NumbersAreGivenOnlyAsTheKindsTheyAre) {
  const auto read = [](std::string_view text) { return parse_json(text).value(); };
  EXPECT_EQ(read("5").natural(), 5u);
  EXPECT_EQ(read("5").integer(), 5);
  EXPECT_EQ(read("5").number(), 5.0);
  EXPECT_EQ(read("-5").natural(), std::nullopt);
  EXPECT_EQ(read("-0").natural(), std::nullopt);
  EXPECT_EQ(read("-0").integer(), 0);
  EXPECT_EQ(read("5.0").integer(), std::nullopt);
  EXPECT_EQ(read("5e0").natural(), std::nullopt);
  EXPECT_EQ(read("9223372036854775808").integer(), std::nullopt);
  EXPECT_EQ(read("9223372036854775808").natural(), 9223372036854775808u);
  EXPECT_EQ(read("18446744073709551620").natural(), std::nullopt);
  EXPECT_TRUE(read("18446744073709551620").is_integer());
  EXPECT_FALSE(read("1.0").is_integer());
  EXPECT_EQ(read("true").number(), std::nullopt);
  EXPECT_EQ(read("true").boolean(), true);
  EXPECT_EQ(Json(-3).natural(), std::nullopt);
  EXPECT_EQ(Json(std::size_t{3}).natural(), 3u);
}

TEST(Json, FindAndSetWorkByKey) {
  Json json = parse_json(R"({"a":1,"b":null})").value();
  ASSERT_NE(json.find("b"), nullptr);
  EXPECT_TRUE(json.find("b")->is_null());
  EXPECT_EQ(json.find("c"), nullptr);
  EXPECT_EQ(Json(3).find("a"), nullptr);
  json.set("a", "new").set("c", Json::Array{1, "two"});
  EXPECT_EQ(compact_json(json), R"({"a":"new","b":null,"c":[1,"two"]})");
}

TEST(Json, ARootThatIsNoObjectIsRead) {
  EXPECT_EQ(python(" \"a\" "), "\"a\"");
  EXPECT_EQ(python("null"), "null");
  EXPECT_EQ(python("[true,false]"), "[true, false]");
}

}  // namespace
}  // namespace manyspan
