// read_speed — how fast this machine's cores read memory together: the roof under which a token is made.
//
// Errors     exhausted: no memory to read
// Cost       `bytes` of memory, about half a second
#pragma once

#include <cstdint>

#include "base/result.h"

namespace manyspan::app {

// Bytes a second, best of several passes by `threads` over `bytes`. What fits a cache is read from there, as weights
// of that size are.
Result<double> read_speed(std::int64_t bytes, int threads);

}  // namespace manyspan::app
