#include "text/chat_read.h"

#include <charconv>
#include <utility>

#include "text/content_read.h"
#include "text/in_quotes.h"
#include "text/tools.h"

namespace manyspan::text {
namespace {

Error invalid(std::string what) { return Error(Fault::invalid, std::move(what)); }

Result<Role> read_role(const Json& message, Reading reading) {
  const Json* role = given(message, "role");
  if (!role || !role->string()) return invalid("has no role");
  const std::string& name = *role->string();
  if (name == "system") return Role::system;
  if (name == "user" || (name == "developer" && reading == Reading::lenient)) return Role::user;
  if (name == "assistant") return Role::assistant;
  if (name == "latest_reminder") return Role::reminder;
  if (name == "tool") return Role::tool;
  return invalid("unknown role " + in_quotes(name));
}

Result<Task> read_task(const Json& task) {
  constexpr std::pair<std::string_view, Task> kTasks[] = {
      {"action", Task::action}, {"query", Task::query}, {"authority", Task::authority},
      {"domain", Task::domain}, {"title", Task::title}, {"read_url", Task::read_url}};
  for (const auto& [name, known] : kTasks) {
    if (task.string() && *task.string() == name) return known;
  }
  return invalid("task: none of action, query, authority, domain, title, read_url");
}

Result<ToolCall> read_call(const Json& call) {
  const Json* function = given(call, "function");
  const Json* name = function ? given(*function, "name") : nullptr;
  if (!name || !name->string()) return invalid("has no function with a name");
  const Json* id = given(call, "id");
  const Json* arguments = function->find("arguments");
  // Not inside the braces: what stands before it there would not be freed where TRY leaves.
  Json object = TRY(call_arguments(arguments ? *arguments : Json(Json::Object())));
  return ToolCall{id && id->string() ? *id->string() : "", *name->string(), std::move(object)};
}

Result<std::vector<ToolCall>> read_calls(const Json& list) {
  if (!list.array()) return invalid("tool_calls: expected an array, found " + std::string(list.kind_name()));
  std::vector<ToolCall> calls;
  for (const Json& call : *list.array()) {
    Result<ToolCall> read = read_call(call);
    if (!read.ok()) return std::move(read).error().within("tool_calls[" + std::to_string(calls.size()) + "]");
    calls.push_back(std::move(read).value());
  }
  return calls;
}

// A truthy flag: what is no boolean is not set.
bool flag(const Json& object, std::string_view key) {
  const Json* value = object.find(key);
  return value && value->boolean().value_or(false);
}

Result<void> read_assistant(const Json& json, const ContentRules& rules, bool strict, Message& message) {
  const Json* reasoning = given(json, "reasoning_content");
  if (!reasoning && !strict) reasoning = given(json, "reasoning");
  ContentRules inside = rules;
  inside.null_is_empty = true;
  message.reasoning = TRY(read_text(reasoning, inside));
  if (const Json* calls = given(json, "tool_calls")) message.calls = TRY(read_calls(*calls));
  message.unfinished = flag(json, strict ? "wo_eos" : "prefix");
  return {};
}

Result<Message> read_message(const Json& json, Reading reading) {
  if (!json.object()) return invalid("expected an object, found " + std::string(json.kind_name()));
  const bool strict = reading == Reading::strict;
  Message message;
  message.role = TRY(read_role(json, reading));
  const bool user = message.role == Role::user, tool = message.role == Role::tool;
  const ContentRules rules{.null_is_empty = !strict || !user,
                           .may_quote_image = !strict,
                           .may_hold_images = strict || user || tool};
  const Json* content = json.find("content");
  if (user) {
    message.blocks = TRY(read_blocks(content, rules));
  } else if (tool) {
    const Json* id = given(json, "tool_call_id");
    message.blocks.push_back({true, id && id->string() ? *id->string() : "",
                              TRY(read_content(content, rules, Unsupported::left_out))});
  } else {
    message.content = TRY(read_content(content, rules, Unsupported::left_out));
  }
  if (message.role == Role::assistant) TRY(read_assistant(json, rules, strict, message));
  if (const Json* tools = given(json, "tools")) message.tools = TRY(read_tools(*tools));
  if (const Json* format = given(json, "response_format")) message.response_format = *format;
  const Json* task = given(json, "task");
  if (task && strict) message.task = TRY(read_task(*task));
  return message;
}

}  // namespace

const Json* given(const Json& object, std::string_view key) {
  const Json* value = object.find(key);
  return value && !value->is_null() ? value : nullptr;
}

Result<std::vector<Message>> read_messages(const Json& list, Reading reading, const std::string& place) {
  if (!list.array()) return invalid(place + ": expected an array, found " + std::string(list.kind_name()));
  std::vector<Message> messages;
  for (const Json& json : *list.array()) {
    Result<Message> message = read_message(json, reading);
    if (!message.ok()) {
      return std::move(message).error().within(place + "[" + std::to_string(messages.size()) + "]");
    }
    messages.push_back(std::move(message).value());
  }
  return messages;
}

Result<Json> read_tools(const Json& list) {
  if (!list.array()) return invalid("tools: expected an array, found " + std::string(list.kind_name()));
  for (std::size_t i = 0; i < list.array()->size(); ++i) {
    const Json* function = given((*list.array())[i], "function");
    const Json* name = function ? given(*function, "name") : nullptr;
    if (!name || !name->string()) {
      return invalid("tools[" + std::to_string(i) + "]: has no function with a name");
    }
  }
  return list;
}

Result<int> read_effort(const Json& effort, Reading reading) {
  constexpr std::pair<std::string_view, int> kLevels[] = {
      {"low", 50},     {"high", kHighEffort},   {"max", 100},
      {"minimal", 50}, {"medium", kHighEffort}, {"xhigh", kHighEffort},
      {"ultra", 100}};
  const std::size_t known = reading == Reading::strict ? 3 : std::size(kLevels);
  std::optional<std::int64_t> level = effort.integer();
  if (const std::string* name = effort.string()) {
    for (std::size_t i = 0; i < known; ++i) {
      if (*name == kLevels[i].first) return kLevels[i].second;
    }
    int number = 0;
    const auto [end, error] = std::from_chars(name->data(), name->data() + name->size(), number);
    if (reading == Reading::lenient && error == std::errc() && end == name->data() + name->size())
      level = number;
  }
  if (level && *level >= 1 && *level <= 100) return static_cast<int>(*level);
  return invalid("reasoning_effort: bad effort, expected low, high, max or a whole number from 1 to 100");
}

}  // namespace manyspan::text
