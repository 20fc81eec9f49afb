// Settings — the values of a subcommand's options, and where each came from.
//
// A value from a source of higher rank stays: command line, then configuration file, then the model's
// generation_config.json, then defaults.
//
// Errors     invalid: a value that the option does not take
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace manyspan::app {

enum class Source { fallback, generation_config, config_file, command_line };

// The option with this long name, or the positional with this name; null where there is none.
CLI::Option* option_named(CLI::App& subcommand, const std::string& name);

class Settings {
 public:
  // After `subcommand` has read its arguments: what has a value now came from the command line.
  explicit Settings(CLI::App& subcommand);

  // Whether a person gave it, on the command line or in a configuration file.
  bool given(const std::string& option) const;

  // Sets the option unless a source of higher rank did. Requires an option of this subcommand.
  Result<void> offer(const std::string& option, const std::vector<std::string>& values, Source source);

  // Whether the message begins with an option, as "--chunks: ", whose value the configuration file gave.
  bool speaks_of_config_file(const Error& error) const;

  // A YAML file that --config takes, each line with its source; or a JSON object of {"value", "from"}.
  std::string yaml() const;
  std::string json() const;

 private:
  CLI::App& subcommand_;
  std::map<const CLI::Option*, Source> sources_;
};

}  // namespace manyspan::app
