// tools — the markup of tool calls in a prompt, and the text that tells the model of its tools.
//
// Specification: prompt encoding, sections 4.1 to 4.3.
#pragma once

#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "text/chat.h"
#include "text/prompt.h"

namespace manyspan::text {

// The arguments of a call as the object to be written: text is read as JSON, up to twice, and whatever is no
// object in the end becomes the one parameter `arguments`.
//
// Errors     invalid for text with an escaped lone surrogate
Result<Json> call_arguments(const Json& given);

// Requires   at least one call, the arguments of each an object
void write_calls(const std::vector<ToolCall>& calls, Prompt& prompt);

// Requires   a list of objects that have a `function`
void write_tools(const Json& tools, Prompt& prompt);

void write_response_format(const Json& format, Prompt& prompt);

}  // namespace manyspan::text
