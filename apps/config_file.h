// config_file — options from a YAML file: `SUBCOMMAND: {OPTION: VALUE}`, lists for what may be repeated.
//
// Every section is checked against its subcommand, also those that are not running: an unknown name is an
// error wherever it stands.
//
// Errors     not_found: no such file; corrupt: not YAML, unknown or repeated names, bad values
#pragma once

#include <string>

#include "apps/settings.h"
#include "base/result.h"

namespace manyspan::app {

Result<void> apply_config_file(const std::string& path, CLI::App& program, CLI::App& subcommand,
                               Settings& settings);

}  // namespace manyspan::app
