#include "text/engram_tokens.h"

#include <array>
#include <unordered_map>
#include <utf8proc.h>

#include "base/check.h"
#include "base/utf8.h"
#include "text/byte_letters.h"
#include "text/unicode.h"
#include "text/utf8_chars.h"

namespace manyspan::text {
namespace {

bool is_mark(utf8proc_int32_t code) {
  const utf8proc_category_t category = utf8proc_category(code);
  return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC ||
         category == UTF8PROC_CATEGORY_ME;
}

// The character's compatibility decomposition without marks, in lower case.
void append_folded(std::string& text, char32_t code) {
  if (code < 0x80) {
    text += static_cast<char>(code >= 'A' && code <= 'Z' ? code + ('a' - 'A') : code);
    return;
  }
  std::array<utf8proc_int32_t, 32> parts;  // the longest decomposition is 18 characters
  int boundary_class = 0;
  const auto count = utf8proc_decompose_char(
      static_cast<utf8proc_int32_t>(code), parts.data(), parts.size(),
      static_cast<utf8proc_option_t>(UTF8PROC_COMPAT | UTF8PROC_DECOMPOSE), &boundary_class);
  CHECK(count >= 0 && static_cast<std::size_t>(count) <= parts.size(),
        "a character that can't be decomposed");
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    if (!is_mark(parts[i])) append_utf8(text, static_cast<char32_t>(utf8proc_tolower(parts[i])));
  }
}

std::string collapse_white_space(std::string_view text) {
  std::string collapsed;
  bool in_run = false;
  for (const char byte : text) {
    const bool white = byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
    if (!white) collapsed += byte;
    if (white && !in_run) collapsed += ' ';
    in_run = white;
  }
  return collapsed;
}

std::string_view strip(std::string_view text) {
  std::size_t begin = text.size(), end = 0;  // of what is no white space
  for (std::size_t position = 0; position < text.size();) {
    const Character character = character_at(text, position);
    if (class_of(character.code) != CharClass::space) {
      if (position < begin) begin = position;
      end = position + character.bytes;
    }
    position += character.bytes;
  }
  return begin < end ? text.substr(begin, end - begin) : std::string_view();
}

std::string key_of(const Tokenizer& tokenizer, TokenId id) {
  const std::string_view bytes = tokenizer.bytes_of(id);
  const bool broken = !is_valid_utf8(bytes) || bytes.find(kReplacement) != std::string_view::npos;
  if (!broken) {
    std::string folded = engram_fold(bytes);
    return folded.empty() ? std::string(bytes) : folded;
  }
  std::string spelling;
  if (tokenizer.is_control(id)) return std::string(bytes);
  for (const char byte : bytes) append_utf8(spelling, letter_of(static_cast<unsigned char>(byte)));
  return spelling;
}

}  // namespace

std::string engram_fold(std::string_view text) {
  std::string folded;
  for (std::size_t position = 0; position < text.size();) {
    const Character character = character_at(text, position);
    append_folded(folded, character.code);
    position += character.bytes;
  }
  folded = collapse_white_space(folded);
  return folded == " " ? folded : std::string(strip(folded));
}

EngramTokens engram_tokens(const Tokenizer& tokenizer) {
  EngramTokens tokens{std::vector<std::int32_t>(tokenizer.size()), 0};
  std::unordered_map<std::string, std::int32_t> numbers;
  numbers.reserve(tokenizer.size());
  for (std::size_t index = 0; index < tokenizer.size(); ++index) {
    const TokenId id{static_cast<std::int32_t>(index)};
    tokens.map[index] =
        numbers.try_emplace(key_of(tokenizer, id), static_cast<std::int32_t>(numbers.size())).first->second;
  }
  tokens.distinct = numbers.size();
  return tokens;
}

}  // namespace manyspan::text
