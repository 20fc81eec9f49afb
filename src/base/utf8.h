// utf8 — reads and writes single characters, and makes any bytes valid.
//
// What is invalid counts as U+FFFD, one for each maximal invalid prefix. Specification: tokenizer, section 5.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace manyspan {

struct Character {
  char32_t code;
  std::size_t bytes;  // how many it takes up in the text
  bool valid;         // false: `code` is U+FFFD and `bytes` are the invalid prefix
};

// Requires a position inside the text.
Character character_at(std::string_view text, std::size_t position);

bool is_valid_utf8(std::string_view text);
std::string replace_invalid_utf8(std::string_view bytes);

// The longest beginning of at most `most` bytes that ends at a character's end. Of bytes that are not UTF-8: any cut.
std::string_view utf8_beginning(std::string_view text, std::size_t most);

// Requires a code point that is not a surrogate.
void append_utf8(std::string& text, char32_t code);

}  // namespace manyspan
