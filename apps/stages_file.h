// stages_file — a cut as a file says it: which layers run on which device. YAML, and so JSON too.
//
//   - {device: 0, layers: ["0-4", "21-25"]}
//   - {device: 1, layers: ["5-20"]}
//
// Both ends of a range are inside; a single layer is a number.
//
// Errors     not_found; corrupt, with file, stage (from 0) and key; whether every layer is in one place is
//            check_placement()'s to say
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "prepared/placement.h"

namespace manyspan::app {

Result<Placement> read_stages(const std::string& path);

// The same of a file's text. Errors name no file.
Result<Placement> stages_of(const std::string& text);

}  // namespace manyspan::app
