// in_quotes — text from a file as a message may show it: in quotes, not too long, valid UTF-8, without a zero byte.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "base/utf8.h"

namespace manyspan::text {

inline std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 80;
  std::string shown(1, '"');
  shown += replace_invalid_utf8(utf8_beginning(text, kLongest));
  std::replace(shown.begin(), shown.end(), '\0', '?');
  shown += text.size() > kLongest ? "...\"" : "\"";
  return shown;
}

}  // namespace manyspan::text
