// ProgressBar — how far something long has come, in one line of standard error that goes away at its end.
//
// Nothing is shown of what takes under a second, unless --progress on.
//
// Threads    one
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "apps/command.h"

namespace manyspan::app {

class ProgressBar {
 public:
  ProgressBar(const Common& common, std::string what);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(std::int64_t done_bytes, std::int64_t total_bytes);

 private:
  using Clock = std::chrono::steady_clock;

  std::string what_;
  bool wanted_, at_once_;
  bool shown_ = false;
  Clock::time_point started_ = Clock::now(), drawn_{};
};

// The line for `columns` of a terminal: "loading 1.2 GiB of 4.0 GiB, 800.0 MiB/s, 4 s left".
std::string progress_line(const std::string& what, std::int64_t done, std::int64_t total, double seconds,
                          int columns);

}  // namespace manyspan::app
