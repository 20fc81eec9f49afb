// json_overflow — numbers too large for a double, put aside so that the library's reader takes the rest.
//
// The library refuses a text with a number like 1e400, or an integer of 400 digits; we keep the first as
// infinity and the second whole. Each such number is replaced by a zero of the same length, so positions in
// messages hold.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace manyspan {

struct OverflowsAside {
  std::map<std::size_t, std::string> overflows;  // as written, by how many numbers stand before it
  std::string text;                              // with zeros in their places; empty where there are none
};

OverflowsAside set_overflows_aside(std::string_view text);

}  // namespace manyspan
