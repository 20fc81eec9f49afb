#include "apps/progress_bar.h"

#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <utility>

#include "apps/machine_facts.h"
#include "apps/streams.h"
#include "apps/terminal.h"

namespace manyspan::app {
namespace {

constexpr std::chrono::milliseconds kPatience{1000}, kBetween{100};

}  // namespace

std::string progress_line(const std::string& what, std::int64_t done, std::int64_t total, double seconds,
                          int columns) {
  std::string line = fmt::format("{} {} of {}", what, shown_bytes(done), shown_bytes(total));
  if (seconds > 0 && done > 0) {
    const double rate = static_cast<double>(done) / seconds;
    const double left = std::max(0.0, static_cast<double>(total - done) / rate);
    line +=
        fmt::format(", {}/s, {:.0f} s left", shown_bytes(static_cast<std::int64_t>(rate)), std::ceil(left));
  }
  // One column stays free, so that no terminal wraps the line.
  return line.substr(0, static_cast<std::size_t>(std::max(0, columns - 1)));
}

ProgressBar::ProgressBar(const Common& common, std::string what)
    : what_(std::move(what)),
      wanted_(!common.quiet && (common.progress == "on" || (common.progress == "auto" && is_terminal(2)))),
      at_once_(common.progress == "on") {}

ProgressBar::~ProgressBar() {
  if (shown_) write_error(is_terminal(2) ? "\r\x1b[K" : "\n");
}

void ProgressBar::show(std::int64_t done, std::int64_t total) {
  if (!wanted_) return;
  const Clock::time_point now = Clock::now();
  if (now - started_ < kPatience && !at_once_) return;
  if (shown_ && now - drawn_ < kBetween && done < total) return;
  const double seconds = std::chrono::duration<double>(now - started_).count();
  write_error(fmt::format("\r{}{}", progress_line(what_, done, total, seconds, terminal_columns(2)),
                          is_terminal(2) ? "\x1b[K" : ""));
  shown_ = true;
  drawn_ = now;
}

}  // namespace manyspan::app
