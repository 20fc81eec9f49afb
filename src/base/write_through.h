// write_through — bytes straight into what stands at a path and must stay there: a device or a pipe.
//
// Errors     not_found: a socket or block device, a pipe that nobody reads; else what the system says. Messages
//            begin with the path
// Threads    any; a broken pipe raises no signal
#pragma once

#include <string>

#include "base/bytes.h"
#include "base/file.h"
#include "base/result.h"

namespace manyspan {

// Waits for a pipe's reader to read, never for one to come. A regular file is emptied first.
Result<void> write_through(const std::string& path, const NextPart& next);

// All of `bytes` into an open descriptor; `path` is for the message.
Result<void> write_all(const std::string& path, int descriptor, Bytes bytes);

}  // namespace manyspan
