// status — what the program's exit status says, and the one line that goes with it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace manyspan::app {

enum class Status {
  done = 0,
  failed = 1,         // while running: memory, a full disk, a lost device
  misused = 2,        // the command line
  refused = 3,        // what a file holds, or that it isn't there
  interrupted = 130,  // Ctrl-C
};

// Fault::invalid is the command line's fault; exhausted and device_lost are nobody's; the rest a file's.
Status status_of(const Error& error);

// The same failure, as that of a file: what a file asks for is never wrong usage.
Error of_file(Error error);

template <class T>
Result<T> of_file(Result<T> result) {
  if (result.ok()) return result;
  return of_file(std::move(result).error());
}

Error misuse(std::string message);

// The output is closed: whoever read it has gone. Ends the program without a word.
Error closed_output();

// Text that is safe to show in one line: names in a file may hold line ends, escapes and broken UTF-8.
std::string one_line(std::string_view text);

}  // namespace manyspan::app
