#include "apps/chat_history.h"

#include <fmt/core.h>
#include <span>
#include <utility>

#include "apps/status.h"
#include "apps/streams.h"
#include "base/check.h"
#include "base/file.h"
#include "base/utf8.h"

namespace manyspan::app {
namespace {

// A message needs an object as arguments; what the model wrote may be none.
std::string arguments_of(const ParsedCall& call) {
  const Result<Json> parsed = parse_json(call.arguments);
  if (parsed.ok() && parsed.value().object() != nullptr) return call.arguments;
  Json wrapped;
  wrapped.set("arguments", replace_invalid_utf8(call.arguments));
  return compact_json(wrapped);
}

Json calls_of(const std::vector<ParsedCall>& calls) {
  Json list;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    Json function;
    function.set("name", calls[i].name);
    function.set("arguments", arguments_of(calls[i]));
    Json call;
    call.set("id", fmt::format("call_{}", i));
    call.set("type", "function");
    call.set("function", std::move(function));
    list.push(std::move(call));
  }
  return list;
}

}  // namespace

void ChatHistory::reset() {
  body_ = Json();
  body_.set("messages", Json(Json::Array{}));
}

Json& ChatHistory::list() {
  for (JsonMember& member : *body_.object()) {
    if (member.key == "messages") return member.value;
  }
  CHECK(false, "a history has messages");
}

std::size_t ChatHistory::messages() const { return body_.find("messages")->array()->size(); }

void ChatHistory::say(std::string_view user) {
  Json message;
  message.set("role", "user");
  message.set("content", replace_invalid_utf8(user));
  list().push(std::move(message));
}

void ChatHistory::answered(const Answer& answer) {
  Json message;
  message.set("role", "assistant");
  message.set("content", answer.text);
  if (!answer.reasoning.empty()) message.set("reasoning_content", answer.reasoning);
  if (!answer.calls.empty()) message.set("tool_calls", calls_of(answer.calls));
  list().push(std::move(message));
}

void ChatHistory::take_back() { list().array()->pop_back(); }

Result<text::ChatRequest> ChatHistory::request() const { return text::read_chat_request(body_); }

Result<void> ChatHistory::load(const std::string& path) {
  const auto read = [&]() -> Result<Json> {
    const std::string text = TRY(read_file(path, kMaxTextBytes));
    Json json = TRY(parse_json(text, {.duplicates = DuplicateKeys::last_wins}));
    if (json.array() != nullptr) {
      Json body;
      body.set("messages", std::move(json));
      json = std::move(body);
    }
    if (json.find("thinking_mode") != nullptr) {
      return Error(Fault::unsupported, "thinking_mode: an encoder's input is no conversation to go on with");
    }
    const Json* messages = json.find("messages");
    if (messages == nullptr || messages->array() == nullptr) {
      return Error(Fault::corrupt, "expected a list of messages, or a request with one");
    }
    if (!messages->array()->empty()) TRY(text::read_chat_request(json));
    return json;
  };
  Result<Json> json = of_file(read());
  if (!json.ok()) {
    const bool named = json.error().message().starts_with(path);
    return named ? std::move(json).error() : std::move(json).error().within(path);
  }
  body_ = std::move(json).value();
  return {};
}

Result<void> ChatHistory::save(const std::string& path) const {
  const std::string text = compact_json(body_.object()->size() == 1 ? *body_.find("messages") : body_) + "\n";
  return write_file_atomically(path, std::as_bytes(std::span(text)));
}

}  // namespace manyspan::app
