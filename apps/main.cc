#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <exception>
#include <fmt/core.h>
#include <sys/resource.h>

#include "apps/command.h"
#include "apps/config_file.h"
#include "apps/interrupt.h"
#include "apps/log.h"
#include "apps/option_checks.h"
#include "apps/status.h"
#include "apps/streams.h"

namespace manyspan::app {
namespace {

// The options that every subcommand has.
struct Shared {
  Common common;
  bool print_config = false;

  void declare(CLI::App& options) {
    options.add_flag("--json", common.json, "Print JSON");
    options.add_flag("--quiet", common.quiet, "Say nothing but errors on standard error");
    options.add_option("--log-level", common.log_level, "error, warn, info or debug")
        ->check(CLI::IsMember({"error", "warn", "info", "debug"}));
    options.add_option("--progress", common.progress, "Progress bars: on, off, or auto (on a terminal)")
        ->check(CLI::IsMember({"on", "off", "auto"}));
    options
        .add_option("--config", common.config,
                    "Take options from this YAML file, which has a section for each subcommand, as\n"
                    "run: {threads: 2}")
        ->check(not_empty())
        ->type_name("FILE");
    options.add_flag("--print-config", print_config, "Show every option's value and its source, and stop");
  }

  void start_log() const { show_log(common.quiet ? "error" : common.log_level); }
};

int leave(const Error& error) {
  if (!error.message().empty()) write_error(fmt::format("manyspan: {}\n", one_line(error.message())));
  return static_cast<int>(status_of(error));
}

int print_and_leave(const std::string& text) {
  const Result<void> written = write_output(text);
  return written.ok() ? 0 : leave(written.error());
}

Result<void> settle_and_run(CLI::App& program, CLI::App& subcommand, Command& command, Shared& shared) {
  Settings settings(subcommand);
  const std::string& config = shared.common.config;
  if (!config.empty()) TRY(apply_config_file(config, program, subcommand, settings));
  shared.start_log();
  const auto work = [&]() -> Result<void> {
    TRY(command.defaults(settings));
    if (shared.print_config)
      return write_output(shared.common.json ? settings.json() + "\n" : settings.yaml());
    return command.run(shared.common);
  };
  Result<void> done = work();
  if (done.ok() || !settings.speaks_of_config_file(done.error())) return done;
  return of_file(std::move(done).error()).within(subcommand.get_name()).within(config);
}

// A model may have hundreds of files, and the usual limit is for programs that wait on descriptors with select().
void allow_many_files() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= files.rlim_max) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

int run(int argc, char** argv) {
  allow_many_files();
  Cancel cancel;
  watch_interrupts(cancel);
  Shared shared;
  shared.common.cancel = &cancel;

  CLI::App program("Runs DeepSeek-V4.1 models.", "manyspan");
  program.set_version_flag("--version", "manyspan " MANYSPAN_VERSION);
  program.require_subcommand(1);
  program.option_defaults()->always_capture_default();
  std::vector<std::unique_ptr<Command>> commands = every_command();
  std::vector<CLI::App*> subcommands;
  for (const auto& command : commands) {
    const About about = command->about();
    CLI::App* options = program.add_subcommand(about.name, about.summary);
    options->footer(about.more + "Example:\n" + about.example);
    command->declare(*options);
    shared.declare(*options);
    subcommands.push_back(options);
  }
  if (argc < 2) {
    write_error(program.help());
    return static_cast<int>(Status::misused);
  }
  const std::string_view first = argv[1];
  const auto named = [&](const CLI::App* options) { return options->get_name() == first; };
  if (!first.starts_with('-') && std::none_of(subcommands.begin(), subcommands.end(), named)) {
    return leave(misuse(fmt::format("{}: no such subcommand (see manyspan --help)", first)));
  }
  try {
    program.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const auto chosen = program.get_subcommands();
    return print_and_leave(chosen.empty() ? program.help() : chosen.front()->help("manyspan"));
  } catch (const CLI::CallForVersion& version) {
    return print_and_leave(std::string(version.what()) + "\n");
  } catch (const CLI::ParseError& wrong) {
    return leave(misuse(fmt::format("{} (see manyspan --help)", wrong.what())));
  }
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (!subcommands[i]->parsed()) continue;
    const Result<void> done = settle_and_run(program, *subcommands[i], *commands[i], shared);
    if (cancel.requested()) return static_cast<int>(Status::interrupted);
    return done.ok() ? 0 : leave(done.error());
  }
  return static_cast<int>(Status::misused);
}

}  // namespace
}  // namespace manyspan::app

int main(int argc, char** argv) {
  using manyspan::app::one_line;
  using manyspan::app::write_error;
  manyspan::app::reserve_streams();
  // A reader that goes away is a failed write, not the end of the process.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return manyspan::app::run(argc, argv);
  } catch (const std::bad_alloc&) {
    write_error("manyspan: out of memory\n");
  } catch (const std::exception& unforeseen) {
    write_error(fmt::format("manyspan: {}\n", one_line(unforeseen.what())));
  }
  return static_cast<int>(manyspan::app::Status::failed);
}
