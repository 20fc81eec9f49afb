// config_text — a blueprint as the config.json that read_blueprint makes the same blueprint of, in the official form.
//
// What a config.json says beside the model's numbers (dtype, initializer_range, versions) is not in a blueprint and so not
// here. Of floats the shortest decimal that F32 reads as the same number stands there.
//
// Requires   a Blueprint that read_blueprint or read_gguf_blueprint returned
// Threads    pure
// Spec       model.md 1; containers.md A.4
#pragma once

#include <string>

#include "base/json.h"
#include "spec/blueprint.h"

namespace manyspan {

Json config_of(const Blueprint& blueprint);

// The same, indented as such files are.
std::string config_text(const Blueprint& blueprint);

// `value` with a line for each member, for files that people read too; lists of numbers stay in one line.
std::string indented_json(const Json& value);

}  // namespace manyspan
