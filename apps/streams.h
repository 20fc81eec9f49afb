// streams — standard input and standard output.
//
// Errors     not_found, corrupt (too long) for what is read; exhausted for what can't be written
#pragma once

#include <string>
#include <string_view>

#include "base/cancel.h"
#include "base/result.h"

namespace manyspan::app {

inline constexpr std::size_t kMaxTextBytes = std::size_t{256} << 20;

// All of standard input; ends early, with what came so far, when `cancel` is requested.
Result<std::string> read_input(const Cancel& cancel, std::size_t limit = kMaxTextBytes);

// Writes to standard output at once, unbuffered.
Result<void> write_output(std::string_view bytes);

}  // namespace manyspan::app
