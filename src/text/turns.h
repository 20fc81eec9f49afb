// turns — makes one user turn of user and tool messages in a row, and orders tool results as they were called.
//
// Specification: prompt encoding, section 2, steps 2 and 3.
#pragma once

#include <vector>

#include "text/chat.h"

namespace manyspan::text {

// No message of the result has the role `tool`.
std::vector<Message> merge_turns(std::vector<Message> messages);

// Sorts the tool results of each turn by the latest calls before it. A result that answers none of them
// counts as the first; other blocks keep their places.
void order_results(std::vector<Message>& messages);

}  // namespace manyspan::text
