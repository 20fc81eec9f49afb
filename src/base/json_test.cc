#include "base/json.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace manyspan {
namespace {

std::string fault_of(std::string_view text, const JsonRules& rules = {}) {
  const auto value = parse_json(text, rules);
  return value.ok() ? "" : value.error().message();
}

TEST(Json, KeepsOrderAndDigits) {
  const Json v =
      parse_json(R"({"b": [1, -0.0, 1e22, 123456789012345678901234567890], "a": {"x": null, "y": true}})")
          .value();
  EXPECT_EQ(to_compact_json(v),
            R"({"b":[1,-0.0,1e+22,123456789012345678901234567890],"a":{"x":null,"y":true}})");
  EXPECT_EQ(to_python_json(v),
            R"({"b": [1, -0.0, 1e+22, 123456789012345678901234567890], "a": {"x": null, "y": true}})");
}

TEST(Json, NumbersAreWrittenAsPythonDoes) {
  for (const auto& [value, text] : {std::pair{1.0, "1.0"},
                                    {1e-7, "1e-07"},
                                    {0.0001, "0.0001"},
                                    {1e15, "1000000000000000.0"},
                                    {1e16, "1e+16"},
                                    {1.5e300, "1.5e+300"},
                                    {123.456, "123.456"},
                                    {-2.5e-5, "-2.5e-05"},
                                    {0.1, "0.1"},
                                    {-0.0, "-0.0"},
                                    {100.0, "100.0"},
                                    {0.00012345, "0.00012345"}}) {
    EXPECT_EQ(python_number(value), text);
  }
  EXPECT_EQ(python_number(std::numeric_limits<double>::infinity()), "Infinity");
  EXPECT_EQ(to_python_json(parse_json("[1e400, -1e400]").value()), "[Infinity, -Infinity]");
}

TEST(Json, RepeatedKeysAreRefusedUnlessTheLastWins) {
  EXPECT_EQ(fault_of(R"({"a": 1, "b": 2, "a": 3})"), "duplicate key \"a\"");
  const Json v = parse_json(R"({"a": 1, "b": 2, "a": 3})", {.last_key_wins = true}).value();
  EXPECT_EQ(to_compact_json(v), R"({"a":3,"b":2})");
}

TEST(Json, DepthIsBoundedWhateverTheText) {
  EXPECT_EQ(fault_of(std::string(1000000, '[')), "JSON nested deeper than 64");
  EXPECT_EQ(fault_of("[[[1]]]", {.deepest = 3}), "");
  EXPECT_EQ(fault_of("[[[1]]]", {.deepest = 2}), "JSON nested deeper than 2");
}

TEST(Json, WhatIsNotJsonIsRefusedWithItsPlace) {
  for (const char* text : {"",
                           " ",
                           "{",
                           "[1,]",
                           "{\"a\"}",
                           "01",
                           "1.",
                           "NaN",
                           "[Infinity]",
                           "// c\n1",
                           "1 2",
                           "\"\\ud800\"",
                           "\"\xc0\xaf\"",
                           "\"\xff\"",
                           "\xef\xbb\xbf{}",
                           "\"a\nb\"",
                           "'a'",
                           "nul",
                           "[1}",
                           "\"\\x\""}) {
    EXPECT_NE(fault_of(text).find("byte"), std::string::npos) << text << ": " << fault_of(text);
  }
}

TEST(Json, IntegersThatDoNotFitAreNothing) {
  EXPECT_EQ(parse_json("18446744073709551615").value().to_uint64(), 18446744073709551615ull);
  EXPECT_EQ(parse_json("18446744073709551616").value().to_uint64(), std::nullopt);
  EXPECT_EQ(parse_json("-1").value().to_uint64(), std::nullopt);
  EXPECT_EQ(parse_json("-9223372036854775808").value().to_int64(), std::numeric_limits<std::int64_t>::min());
  EXPECT_TRUE(parse_json("18446744073709551616").value().is_integer());
  EXPECT_FALSE(parse_json("4.0").value().is_integer());
}

TEST(Json, EscapesAreReadAndWritten) {
  const Json v = parse_json("\"\\u0000\\ud83d\\ude00\\/\\\"\\\\\\b\\f\\n\\r\\t\\u001f\\u007f\"").value();
  EXPECT_EQ(v.to_string(), std::string("\0\xf0\x9f\x98\x80/\"\\\b\f\n\r\t\x1f\x7f", 15));
  EXPECT_EQ(to_compact_json(v), "\"\\u0000\xf0\x9f\x98\x80/\\\"\\\\\\b\\f\\n\\r\\t\\u001f\x7f\"");
}

}  // namespace
}  // namespace manyspan
