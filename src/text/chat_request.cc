#include "text/chat_request.h"

#include <string>
#include <utility>

#include "text/chat_read.h"
#include "text/in_quotes.h"
#include "text/tool_choice.h"

namespace manyspan::text {
namespace {

Error invalid(std::string what) { return Error(Fault::invalid, std::move(what)); }

Result<bool> read_switch(const Json& value, const std::string& key) {
  if (value.boolean()) return *value.boolean();
  return invalid(key + ": expected true or false, found " + std::string(value.kind_name()));
}

// The published encoder's own input.
Result<ChatRequest> read_encoder_input(const Json& json) {
  ChatRequest request;
  Conversation& conversation = request.conversation;
  const Json* mode = json.find("thinking_mode");
  const std::string* name = mode->string();
  if (!name || (*name != "chat" && *name != "thinking")) {
    return invalid("thinking_mode: expected \"chat\" or \"thinking\"");
  }
  request.thinking = *name == "thinking";
  if (const Json* effort = given(json, "reasoning_effort")) {
    request.effort = TRY(read_effort(*effort, Reading::strict));
  }
  if (const Json* drop = given(json, "drop_thinking")) {
    conversation.drop_thinking = TRY(read_switch(*drop, "drop_thinking"));
  }
  if (const Json* bos = given(json, "add_default_bos_token")) {
    conversation.add_bos = TRY(read_switch(*bos, "add_default_bos_token"));
  }
  if (const Json* context = given(json, "context")) {
    conversation.context = TRY(read_messages(*context, Reading::strict, "context"));
  }
  const Json* messages = json.find("messages");
  conversation.messages = TRY(read_messages(messages ? *messages : Json(), Reading::strict, "messages"));
  if (conversation.messages.empty()) return invalid("messages: there are none");
  request.tools = declares_tools(conversation.context) || declares_tools(conversation.messages);
  return request;
}

// An effort by name, or "none", which turns thinking off.
Result<void> read_api_effort(const Json& effort, std::optional<bool>& thinking, std::optional<int>& level) {
  const bool none = effort.string() && *effort.string() == "none";
  thinking = !none;
  if (!none) level = TRY(read_effort(effort, Reading::lenient));
  return {};
}

// In order of trust: `thinking`, `reasoning_effort`, and then the same as template arguments.
Result<void> read_thinking(const Json& body, ChatRequest& request) {
  static const Json kNone;
  const Json* arguments = given(body, "chat_template_kwargs");
  if (!arguments) arguments = &kNone;

  std::optional<bool> by_effort, by_argument_effort;
  std::optional<int> argument_level;
  if (const Json* effort = given(*arguments, "reasoning_effort")) {
    TRY(read_api_effort(*effort, by_argument_effort, argument_level));
  }
  if (const Json* effort = given(body, "reasoning_effort")) {
    TRY(read_api_effort(*effort, by_effort, request.effort));
  } else {
    request.effort = argument_level;
  }

  if (const Json* thinking = given(body, "thinking")) {
    const Json* type = given(*thinking, "type");
    const std::string* name = type ? type->string() : nullptr;
    if (!name || (*name != "enabled" && *name != "disabled")) {
      return invalid("thinking: expected a type of \"enabled\" or \"disabled\"");
    }
    request.thinking = *name == "enabled";
  } else if (by_effort) {
    request.thinking = by_effort;
  } else if (const Json* on = given(*arguments, "thinking")) {
    request.thinking = TRY(read_switch(*on, "chat_template_kwargs.thinking"));
  } else if (const Json* enabled = given(*arguments, "enable_thinking")) {
    request.thinking = TRY(read_switch(*enabled, "chat_template_kwargs.enable_thinking"));
  } else {
    request.thinking = by_argument_effort;
  }

  const Json* drop = given(body, "drop_thinking");
  if (!drop) drop = given(*arguments, "drop_thinking");
  if (drop) request.conversation.drop_thinking = TRY(read_switch(*drop, "drop_thinking"));
  return {};
}

Result<Json> read_response_format(const Json& format) {
  const Json* type = given(format, "type");
  const std::string* name = type ? type->string() : nullptr;
  if (name && *name == "text") return Json();
  if (name && *name == "json_object") {
    Json plain;
    plain.set("type", "json_object");
    return plain;
  }
  const Json* outer = name && *name == "json_schema" ? given(format, "json_schema") : nullptr;
  const Json* schema = outer ? given(*outer, "schema") : nullptr;
  if (schema) return *schema;
  return invalid("response_format: expected a type of text, json_object, or json_schema with a schema");
}

// Where the template writes tools and format: the system message at the front, made if there is none.
Message& front_system(std::vector<Message>& messages) {
  if (messages.front().role != Role::system) {
    messages.insert(messages.begin(), Message{});
    messages.front().role = Role::system;
  }
  return messages.front();
}

Result<void> read_prefix(const Json& body, std::vector<Message>& messages) {
  bool go_on = false;
  if (const Json* value = given(body, "continue_final_message")) {
    go_on = TRY(read_switch(*value, "continue_final_message"));
  }
  for (Message& message : messages) {
    const bool last = &message == &messages.back();
    message.unfinished = message.role == Role::assistant && last && (message.unfinished || go_on);
  }
  Message& last = messages.back();
  if (go_on && !last.unfinished) return invalid("continue_final_message: the last message is no assistant's");
  bool has_content = !last.calls.empty();
  for (const ContentPiece& piece : last.content) has_content |= !piece.text.empty();
  last.open_reasoning = last.unfinished && !has_content && !last.reasoning.empty();
  return {};
}

Result<ChatRequest> read_body(const Json& body) {
  ChatRequest request;
  std::vector<Message>& messages = request.conversation.messages;
  const Json* list = body.find("messages");
  messages = TRY(read_messages(list ? *list : Json(), Reading::lenient, "messages"));
  if (messages.empty()) return invalid("messages: there are none");
  request.conversation.always_answer = true;
  TRY(read_thinking(body, request));
  TRY(read_prefix(body, messages));
  request.sampling = TRY(read_sampling_fields(body));
  const Json* n = given(body, "n");
  if (n && n->integer() != 1) return invalid("n: only 1 answer at a time");

  const ToolChoice choice = TRY(read_tool_choice(body));
  if (choice.none) {
    for (Message& message : messages) message.tools = Json();
  } else if (choice.tools.array() && !choice.tools.array()->empty()) {
    front_system(messages).tools = choice.tools;
  }
  request.conversation.force_calls = choice.forced;
  if (const Json* format = given(body, "response_format")) {
    Json schema = TRY(read_response_format(*format));
    if (!schema.is_null()) front_system(messages).response_format = std::move(schema);
  }
  request.tools = declares_tools(messages);
  return request;
}

}  // namespace

Result<ChatRequest> parse_chat_request(std::string_view json) {
  const JsonLimits limits{
      .depth = 128, .values = std::size_t{4} << 20, .duplicates = DuplicateKeys::last_wins};
  return read_chat_request(TRY(parse_json(json, limits)));
}

Result<ChatRequest> read_chat_request(const Json& json) {
  if (json.array()) {
    Json body;
    body.set("messages", json);
    return read_body(body);
  }
  if (!json.object()) {
    return invalid("expected a list of messages or a request, found " + std::string(json.kind_name()));
  }
  return json.find("thinking_mode") ? read_encoder_input(json) : read_body(json);
}

Result<Prompt> encode(const ChatRequest& request) {
  Conversation conversation = request.conversation;
  conversation.thinking = request.thinking.value_or(conversation.thinking);
  conversation.effort = request.effort.value_or(conversation.effort);
  if (conversation.force_calls && conversation.thinking) {
    return invalid("tool_choice: this choice needs thinking disabled");
  }
  return encode(conversation);
}

ParseOptions parse_options(const ChatRequest& request, const Prompt& prompt) {
  return {.thinking = prompt.start() == Prompt::Start::reasoning,
          .tools = request.tools,
          .inside_calls = prompt.start() == Prompt::Start::calls,
          .by_token = false,
          .stop = request.sampling.stop.value_or(std::vector<std::string>())};
}

}  // namespace manyspan::text
