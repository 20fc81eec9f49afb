// in_quotes — text from a file as a message may show it: in quotes, not too long, and valid UTF-8.
#pragma once

#include <string>
#include <string_view>

#include "base/utf8.h"

namespace manyspan::text {

inline std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 80;
  std::string shown(1, '"');
  shown += replace_invalid_utf8(text.substr(0, kLongest));
  shown += text.size() > kLongest ? "...\"" : "\"";
  return shown;
}

}  // namespace manyspan::text
