// chat — a conversation as the text that the model was trained to read.
//
// Specification: prompt encoding, sections 2 to 4.
//
// Requires   contents, names and keys are UTF-8; tool calls' arguments are objects
// Cost       linear in the text
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "text/prompt.h"

namespace manyspan::text {

enum class Role { system, user, assistant, reminder, tool };
enum class Task { action, query, authority, domain, title, read_url };

struct ToolCall {
  std::string id;  // may be empty
  std::string name;
  Json arguments;
};

// Of a user's turn: what was said, or what a tool gave back.
struct Block {
  bool is_result = false;
  std::string id;  // of the call that a result answers
  Content content;
};

struct Message {
  Role role = Role::user;
  Content content;            // of system, assistant and reminder
  std::vector<Block> blocks;  // of user and tool
  std::string reasoning;
  std::vector<ToolCall> calls;
  Json tools;            // null or a list; each with a `function`. Written by system messages only
  Json response_format;  // null for none; likewise
  std::optional<Task> task;
  bool unfinished = false;      // an assistant's: the model goes on from its end
  bool open_reasoning = false;  // and its end is inside the reasoning
};

inline constexpr int kHighEffort = 75;

struct Conversation {
  std::vector<Message> messages;
  std::vector<Message>
      context;  // earlier messages, already read by the model: they count but are not written
  bool thinking = true;
  int effort = kHighEffort;   // 1..100
  bool drop_thinking = true;  // leave out the reasoning of turns gone by, unless there are tools
  bool add_bos = true;
  bool always_answer = false;  // the assistant's turn is opened whatever the last message is
  bool force_calls = false;    // the prompt ends inside a block of calls
};

Prompt encode(const Conversation& conversation);

// Whether any of its messages declares tools.
bool declares_tools(const std::vector<Message>& messages);

}  // namespace manyspan::text
