// chat_request — what a client asks for: a conversation, how to think about it and how to sample.
//
// Reads the three forms that a messages file may have: a list of messages, the body of an API request, or, if
// it has a `thinking_mode`, the published encoder's own input, for which its strict rules hold.
// Specification: prompt encoding, section 6; command line, `encode`.
//
// Errors     corrupt for text that is not JSON; invalid for what no prompt can be made of
#pragma once

#include <optional>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "text/chat.h"
#include "text/parse.h"
#include "text/sampling_fields.h"

namespace manyspan::text {

struct ChatRequest {
  Conversation conversation;     // its thinking and effort are what holds where neither is set below
  std::optional<bool> thinking;  // what the request says, or an option that wins over it
  std::optional<int> effort;     // 1..100
  SamplingFields sampling;
  bool tools = false;  // the answer may hold tool calls
};

Result<ChatRequest> parse_chat_request(std::string_view json);
Result<ChatRequest> read_chat_request(const Json& json);

// Errors     invalid if the request forces a tool call while thinking
Result<Prompt> encode(const ChatRequest& request);

// How the answer to this prompt is to be split, with the stop strings of the request.
ParseOptions parse_options(const ChatRequest& request, const Prompt& prompt);

}  // namespace manyspan::text
