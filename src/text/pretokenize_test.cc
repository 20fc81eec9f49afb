#include "text/pretokenize.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace manyspan::text {
namespace {

using Pieces = std::vector<std::string>;

Pieces cut(std::string_view text) {
  Pieces pieces;
  PieceCutter cutter(text);
  for (std::string_view piece = cutter.next(); !piece.empty(); piece = cutter.next())
    pieces.emplace_back(piece);
  return pieces;
}

TEST(Pretokenize, NumbersAreCutIntoThreesBeforeAnythingElse) {
  EXPECT_EQ(cut("12345a6"), (Pieces{"123", "45", "a", "6"}));
  EXPECT_EQ(cut("1½Ⅳ٣"), (Pieces{"1½Ⅳ", "٣"}));
}

TEST(Pretokenize, ChineseAndKanaStandAloneAndKanaMarksAreCutOut) {
  EXPECT_EQ(cut("ab你好cd"), (Pieces{"ab", "你好", "cd"}));
  EXPECT_EQ(cut("ア・イ"), (Pieces{"ア", "・", "イ"}));
  EXPECT_EQ(cut("你한"), (Pieces{"你", "한"}));
}

TEST(Pretokenize, AsciiSignsTakeAsciiLettersButNoOthers) {
  EXPECT_EQ(cut(".com's"), (Pieces{".com", "'s"}));
  EXPECT_EQ(cut(" _name"), (Pieces{" _", "name"}));
  EXPECT_EQ(cut(".é"), (Pieces{".", "é"}));
}

TEST(Pretokenize, SignsTakeTheNewlinesBehindThem) {
  EXPECT_EQ(cut(")\n\nx"), (Pieces{")\n\n", "x"}));
  EXPECT_EQ(cut("x\n\ny"), (Pieces{"x", "\n\n", "y"}));
  EXPECT_EQ(cut(" \r\n \n  y"), (Pieces{" \r\n \n", " ", " y"}));
}

TEST(Pretokenize, WhiteSpaceLeavesItsLastForAWordOnly) {
  EXPECT_EQ(cut("a  b"), (Pieces{"a", " ", " b"}));
  EXPECT_EQ(cut("a  1"), (Pieces{"a", "  ", "1"}));
  EXPECT_EQ(cut("a  "), (Pieces{"a", "  "}));
  EXPECT_EQ(cut("\u3000\u3000b"), (Pieces{"\u3000", "\u3000b"}));
}

TEST(Pretokenize, MarksStayWithLettersAndAnyOtherCharacterMayLeadAWord) {
  EXPECT_EQ(cut("e\u0301a"), (Pieces{"e\u0301a"}));
  EXPECT_EQ(cut("\u200Bab"), (Pieces{"\u200Bab"}));
  EXPECT_EQ(cut("😀\u200D😀\uFE0F"), (Pieces{"😀", "\u200D", "😀", "\uFE0F"}));
}

TEST(Pretokenize, WhatNothingMatchesStaysTogether) {
  EXPECT_EQ(cut("\x01\x02\x03 "), (Pieces{"\x01\x02\x03", " "}));
  EXPECT_EQ(cut("\x01\x02z"), (Pieces{"\x01", "\x02z"}));
  EXPECT_EQ(cut(""), Pieces{});
}

TEST(Pretokenize, InvalidBytesAreSignsAndNothingIsLost) {
  EXPECT_EQ(cut("a\xFF\xE4\xBD!b"), (Pieces{"a", "\xFF\xE4\xBD!", "b"}));
}

// A cutter that looked back or ahead over whole runs again would take minutes here.
TEST(Pretokenize, LongRunsOfAnyKindTakeLinearTime) {
  constexpr std::size_t kLong = 2'000'000;
  for (const char* unit : {" ", "\n", "a", "\x01", "!", "\u0301", "你", "・", " \x01", "\u200B"}) {
    std::string text;
    while (text.size() < kLong) text += unit;
    std::size_t bytes = 0;
    PieceCutter cutter(text);
    for (std::string_view piece = cutter.next(); !piece.empty(); piece = cutter.next()) bytes += piece.size();
    EXPECT_EQ(bytes, text.size());
  }
}

}  // namespace
}  // namespace manyspan::text
