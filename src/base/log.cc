#include "base/log.h"

#include <atomic>
#include <mutex>
#include <utility>

namespace manyspan {
namespace {

struct Listener {
  std::mutex mutex;
  LogSink sink;
};

Listener& listener() {
  static Listener one;
  return one;
}

std::atomic<LogLevel> least_wanted{LogLevel::silent};

}  // namespace

void set_log_sink(LogSink sink, LogLevel least) {
  Listener& to = listener();
  const std::lock_guard lock(to.mutex);
  to.sink = std::move(sink);
  least_wanted.store(to.sink ? least : LogLevel::silent, std::memory_order_relaxed);
}

bool log_wants(LogLevel level) {
  return level != LogLevel::silent && level >= least_wanted.load(std::memory_order_relaxed);
}

void log(LogLevel level, std::string_view what, std::initializer_list<LogField> fields) {
  if (!log_wants(level)) return;
  Listener& to = listener();
  const std::lock_guard lock(to.mutex);
  if (to.sink) to.sink({level, what, fields});
}

}  // namespace manyspan
