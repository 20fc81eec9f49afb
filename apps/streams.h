// streams — standard input, standard output and standard error.
//
// Errors     not_found, corrupt (too long) for what is read; exhausted for what can't be written
#pragma once

#include <string>
#include <string_view>

#include "base/cancel.h"
#include "base/result.h"

namespace manyspan::app {

inline constexpr std::size_t kMaxTextBytes = std::size_t{256} << 20;

// What went wrong with a stream: "standard input: it is closed".
std::string stream_error(const char* stream, int system_error);

// All of standard input; ends early, with what came so far, when `cancel` is requested.
Result<std::string> read_input(const Cancel& cancel, std::size_t limit = kMaxTextBytes);

// Writes to standard output at once, unbuffered.
Result<void> write_output(std::string_view bytes);

// Writes to standard error. Where that fails nobody can be told, and nothing changes: the exit status stands.
void write_error(std::string_view bytes);

// At the start of the program, before it opens anything: a stream that is closed stays one that can't be read or
// written, rather than become the first file that is opened.
void reserve_streams();

}  // namespace manyspan::app
