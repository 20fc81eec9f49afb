// tool_choice — which of a request's tools the model hears of, and whether it has to call one.
//
// Specification: prompt encoding, section 6, "Tools".
//
// Errors     invalid: a choice that is unknown, names no tool of the request, or forces a call without tools
#pragma once

#include "base/json.h"
#include "base/result.h"

namespace manyspan::text {

struct ToolChoice {
  Json tools;           // null, or the list to be written
  bool none = false;    // as if there were no tools
  bool forced = false;  // the answer is tool calls
};

Result<ToolChoice> read_tool_choice(const Json& body);

}  // namespace manyspan::text
