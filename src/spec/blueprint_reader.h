// blueprint_reader — the numbers of a config's two objects, with every fault and every unknown key noted.
#pragma once

#include "spec/blueprint.h"
#include "spec/config_fields.h"

namespace manyspan {

// The two forms of a config: the official one, and that of the official inference code.
enum class Form { nested, flat };

// `text` and `root` may be the same object. What comes back is of use only where no fault was noted.
Blueprint read_numbers(Form form, ConfigFields& text, ConfigFields& root, Faults& faults);

}  // namespace manyspan
