// log — structured events, given to one sink that an app sets; without a sink nothing is kept or printed.
//
// Requires   the sink does not throw and does not log
// Threads    any; the sink is called by one thread at a time
// Cost       one relaxed load where nobody listens: a caller with costly fields asks log_wants() first
#pragma once

#include <functional>
#include <initializer_list>
#include <string_view>

#include "base/json.h"

namespace manyspan {

enum class LogLevel { debug, info, warning, error, silent };

struct LogField {
  std::string_view key;
  Json value;
};

// Borrows: valid during the call of the sink only.
struct LogEvent {
  LogLevel level;
  std::string_view what;  // a sentence without its numbers: "container opened"
  std::initializer_list<LogField> fields;
};

using LogSink = std::function<void(const LogEvent&)>;

// Events below `least` are dropped. An empty sink makes all silent again.
void set_log_sink(LogSink sink, LogLevel least = LogLevel::info);

bool log_wants(LogLevel level);
void log(LogLevel level, std::string_view what, std::initializer_list<LogField> fields = {});

}  // namespace manyspan
