// bundled_model — the model that is meant when none is named.
#pragma once

#include <string>

namespace manyspan::app {

// models/first-light of the source tree that this program was built in, else ../share/manyspan/first-light
// from the program. The latter is returned also where neither is there.
std::string bundled_model();

}  // namespace manyspan::app
