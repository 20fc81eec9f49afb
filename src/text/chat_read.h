// chat_read — messages as clients send them, as the encoder takes them.
//
// Specification: prompt encoding, section 2 step 1, and sections 6 and 10. `strict` is the published encoder's
// own input: its roles, tasks and refusals. `lenient` is what an API takes: developer is a user, null is empty
// text, and text may spell anything.
//
// Errors     invalid, naming the message and the key
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "text/chat.h"

namespace manyspan::text {

enum class Reading { strict, lenient };

// Requires   a place for messages about it, such as "messages"
Result<std::vector<Message>> read_messages(const Json& list, Reading reading, const std::string& place);

// A list of objects, each with a `function` that has a name.
Result<Json> read_tools(const Json& list);

// The level of a `reasoning_effort`, 1..100.
Result<int> read_effort(const Json& effort, Reading reading);

// The member if it is there and not null.
const Json* given(const Json& object, std::string_view key);

}  // namespace manyspan::text
