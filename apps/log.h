// log — what the rooms report, shown on standard error.
#pragma once

#include <string>

namespace manyspan::app {

// From now on events of this level (error, warn, info or debug) and above are shown.
void show_log(const std::string& level);

}  // namespace manyspan::app
