// The hand-written cutter against the three expressions themselves, run by PCRE2.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <memory>
#include <pcre2.h>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/utf8.h"
#include "text/pretokenize.h"

namespace manyspan::text {
namespace {

using Pieces = std::vector<std::string>;

class Splitter {
 public:
  explicit Splitter(const std::string& expression) {
    int error = 0;
    PCRE2_SIZE offset = 0;
    code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(),
                              PCRE2_UTF | PCRE2_UCP, &error, &offset, nullptr));
    EXPECT_TRUE(code_) << expression << " at " << offset;
    match_.reset(pcre2_match_data_create_from_pattern(code_.get(), nullptr));
  }

  bool matches(const std::string& text) const {
    return pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0, 0,
                       match_.get(), nullptr) > 0;
  }

  void split(const std::string& piece, Pieces& into) const {
    std::size_t done = 0;
    while (pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(piece.data()), piece.size(), done, 0,
                       match_.get(), nullptr) > 0) {
      const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(match_.get());
      if (bounds[0] > done) into.push_back(piece.substr(done, bounds[0] - done));
      into.push_back(piece.substr(bounds[0], bounds[1] - bounds[0]));
      done = bounds[1];
    }
    if (done < piece.size()) into.push_back(piece.substr(done));
  }

 private:
  struct Free {
    void operator()(pcre2_code* code) const { pcre2_code_free(code); }
    void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
  };
  std::unique_ptr<pcre2_code, Free> code_;
  std::unique_ptr<pcre2_match_data, Free> match_;
};

Pieces cut_by_expressions(const std::string& text) {
  static const Splitter passes[] = {
      Splitter(R"(\p{N}{1,3})"), Splitter("[\u4E00-\u9FA5\u3040-\u309F\u30A0-\u30FF]+"),
      Splitter(R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+)"
               R"(| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)")};
  Pieces pieces{text};
  if (text.empty()) return {};
  for (const Splitter& pass : passes) {
    Pieces finer;
    for (const std::string& piece : pieces) pass.split(piece, finer);
    pieces = std::move(finer);
  }
  return pieces;
}

Pieces cut_by_hand(const std::string& text) {
  Pieces pieces;
  PieceCutter cutter(text);
  for (std::string_view piece = cutter.next(); !piece.empty(); piece = cutter.next())
    pieces.emplace_back(piece);
  return pieces;
}

// Characters that neighbour each other badly, and now and then any that both libraries' Unicode versions
// know.
std::string random_text(std::mt19937& random) {
  static const Splitter younger_than_library(R"(\p{Cn})");
  static const std::vector<std::string> telling = {
      " ",      " ",      "  ",     "\n", "\r",      "\r\n",   "\t",     "a",      "B",      "z",
      "1",      "23",     "½",      "é",  "e\u0301", "ß",      "ü",      "!",      ".",      "'",
      "_",      "<",      "$",      "+",  "€",       "，",     "。",     "你",     "好",     "ア",
      "・",     "゠",     "゛",     "한", "क",       "\u093F", "\u0E33", "\u200B", "\u200D", "\uFE0F",
      "\u3000", "\u00A0", "\u0085", "😀",  "\u0001",  "\u001C", "\uFEFF", "\uE000", "𠀀"};
  std::string text;
  for (std::size_t length = random() % 24; length > 0; --length) {
    if (random() % 8 != 0) {
      text += telling[random() % telling.size()];
      continue;
    }
    const char32_t code = random() % 0x20000;
    if ((code >= 0xD800 && code <= 0xDFFF) || code == 0x180E)
      continue;  // U+180E: white space to this library only
    std::string character;
    append_utf8(character, code);
    if (!younger_than_library.matches(character)) text += character;
  }
  return text;
}

TEST(PretokenizeOracle, RandomTextIsCutAsTheExpressionsCutIt) {
  std::mt19937 random(20260101);
  for (int round = 0; round < 100'000; ++round) {
    const std::string text = random_text(random);
    ASSERT_EQ(cut_by_hand(text), cut_by_expressions(text)) << "round " << round << ": " << text;
  }
}

}  // namespace
}  // namespace manyspan::text
