// loader — runs the program on a checkpoint under limits, and does something to it while it loads.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace manyspan::tests {

struct Loading {
  std::vector<std::string> arguments;
  std::int64_t most_private_bytes = 0;  // RLIMIT_DATA: whatever is no mapped file; 0: no limit
  bool as_nobody = false;  // without a superuser's right to read everything; ignored for other users
  // Called once, when `when` is on standard error.
  std::string when{};
  std::function<void(pid_t)> then{};
};

struct Loaded {
  int status;  // the exit status, or -N if signal N ended it
  std::string out, err;
  std::int64_t peak_bytes;                   // of resident memory, mapped files included
  std::optional<double> seconds_after_then;  // from `then` to the end
};

Loaded load(const Loading& wish);

}  // namespace manyspan::tests
