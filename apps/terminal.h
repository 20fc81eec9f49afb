// terminal — whether a person watches, how wide it is, and text that can't take control of it.
#pragma once

#include <string>
#include <string_view>

namespace manyspan::app {

bool is_terminal(int descriptor);

// 80 where it can't be told.
int terminal_columns(int descriptor);

// Control characters other than tab and line end become U+FFFD: what a model writes must not steer a terminal.
std::string harmless(std::string_view text);

}  // namespace manyspan::app
