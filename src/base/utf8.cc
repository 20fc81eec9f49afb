#include "base/utf8.h"

#include "base/check.h"

namespace manyspan {
namespace {

constexpr char32_t kReplacementCode = 0xFFFD;

unsigned char byte_at(std::string_view text, std::size_t position) {
  return static_cast<unsigned char>(text[position]);
}

Character multibyte_at(std::string_view text, std::size_t position) {
  const unsigned char lead = byte_at(text, position);
  if (lead < 0xC2 || lead > 0xF4) return {kReplacementCode, 1, false};
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  unsigned char lowest = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;  // no longer spellings
  unsigned char highest = lead == 0xED   ? 0x9F
                          : lead == 0xF4 ? 0x8F
                                         : 0xBF;  // no surrogates, no more than U+10FFFF
  char32_t code = lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (position + i >= text.size()) return {kReplacementCode, i, false};
    const unsigned char byte = byte_at(text, position + i);
    if (byte < lowest || byte > highest) return {kReplacementCode, i, false};
    code = code << 6 | (byte & 0x3FU);
    lowest = 0x80;
    highest = 0xBF;
  }
  return {code, length, true};
}

}  // namespace

Character character_at(std::string_view text, std::size_t position) {
  const unsigned char lead = byte_at(text, position);
  return lead < 0x80 ? Character{lead, 1, true} : multibyte_at(text, position);
}

bool is_valid_utf8(std::string_view text) {
  for (std::size_t position = 0; position < text.size();) {
    const Character character = character_at(text, position);
    if (!character.valid) return false;
    position += character.bytes;
  }
  return true;
}

std::string replace_invalid_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  for (std::size_t position = 0; position < bytes.size();) {
    const Character character = character_at(bytes, position);
    append_utf8(text, character.code);
    position += character.bytes;
  }
  return text;
}

std::string_view utf8_beginning(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  constexpr std::size_t kLongestTail = 3;  // bytes of a character after its first
  while (end > 0 && most - end < kLongestTail && (static_cast<unsigned char>(text[end]) & 0xc0u) == 0x80)
    --end;
  return text.substr(0, end);
}

void append_utf8(std::string& text, char32_t code) {
  CHECK(code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF), "not a character");
  const auto tail = [&](int shift) { text += static_cast<char>(0x80U | (code >> shift & 0x3FU)); };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0U | code >> 6);
    tail(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xE0U | code >> 12);
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xF0U | code >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace manyspan
