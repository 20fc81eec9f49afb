// stage_trace — what the stages of a pipeline did when, as a file that trace viewers draw, and how long they idled.
//
// Format     the trace event format of Chrome and Perfetto: complete events, a thread for each stage's main queue and,
//            below it, its others
// Errors     what writing a file says
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "engine/options.h"

namespace manyspan::app {

Result<void> write_stage_trace(const std::string& path, std::span<const StageSpan> spans);

// The part of the time from the first to the last span in which a stage's main queue waited for something to do:
// the mean over `stages`.
double idle_share(std::span<const StageSpan> spans, int stages);

}  // namespace manyspan::app
