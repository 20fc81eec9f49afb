#include "apps/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include "apps/status.h"
#include "base/log.h"

namespace manyspan::app {
namespace {

struct Pair {
  const char* name;
  LogLevel ours;
  spdlog::level::level_enum theirs;
};
constexpr Pair kLevels[] = {{"debug", LogLevel::debug, spdlog::level::debug},
                            {"info", LogLevel::info, spdlog::level::info},
                            {"warn", LogLevel::warning, spdlog::level::warn},
                            {"error", LogLevel::error, spdlog::level::err}};

}  // namespace

void show_log(const std::string& level) {
  // stderr_logger_mt would throw if one of this name were there already.
  static const auto log = spdlog::stderr_color_mt("manyspan");
  log->set_pattern("manyspan: %^%l%$: %v");
  for (const Pair& chosen : kLevels) {
    if (level != chosen.name) continue;
    log->set_level(chosen.theirs);
    set_log_sink(
        [](const LogEvent& event) {
          std::string line(event.what);
          for (const LogField& field : event.fields) {
            line.append(" ").append(field.key).append("=").append(compact_json(field.value));
          }
          for (const Pair& pair : kLevels) {
            if (pair.ours == event.level) log->log(pair.theirs, one_line(line));
          }
        },
        chosen.ours);
  }
}

}  // namespace manyspan::app
