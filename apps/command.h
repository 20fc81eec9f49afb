// Command — one subcommand: its options, their defaults, and what it does.
//
// Errors     as status.h reads them: invalid is wrong usage, what a file breaks is passed through of_file()
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/settings.h"
#include "base/cancel.h"
#include "base/result.h"

namespace manyspan::app {

// What every subcommand takes, and what it runs under.
struct Common {
  bool json = false;
  bool quiet = false;
  std::string log_level = "info";
  std::string progress = "auto";
  std::string config;        // the file that options were taken from; empty: none
  Cancel* cancel = nullptr;  // requested by Ctrl-C; the exit status follows from it
};

struct About {
  const char* name;
  const char* summary;
  const char* example;  // whole commands, a line each
  std::string more{};   // what else --help tells, whole lines
};

class Command {
 public:
  virtual ~Command() = default;

  virtual About about() const = 0;

  // Adds its options; those that every subcommand has are added by the program.
  virtual void declare(CLI::App& options) = 0;

  // Offers defaults that depend on the machine or on the model.
  virtual Result<void> defaults(Settings&) { return {}; }

  virtual Result<void> run(const Common& common) = 0;
};

std::unique_ptr<Command> run_command();
std::unique_ptr<Command> chat_command();
std::unique_ptr<Command> logits_command();
std::unique_ptr<Command> bench_command();
std::unique_ptr<Command> inspect_command();
std::unique_ptr<Command> convert_command();
std::unique_ptr<Command> verify_command();
std::unique_ptr<Command> plan_command();
std::unique_ptr<Command> encode_command();
std::unique_ptr<Command> tokenize_command();
std::unique_ptr<Command> detokenize_command();
std::unique_ptr<Command> parse_command();
std::unique_ptr<Command> doctor_command();

// In the order in which --help lists them.
std::vector<std::unique_ptr<Command>> every_command();

}  // namespace manyspan::app
