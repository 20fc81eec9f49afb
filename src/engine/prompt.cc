#include "engine/prompt.h"

#include <charconv>
#include <utility>

#include "text/control.h"

namespace manyspan {

Result<text::ChatRequest> question(std::string_view text) {
  Json message;
  message.set("role", "user");
  message.set("content", text);
  Json messages;
  messages.push(std::move(message));
  return text::read_chat_request(messages);
}

Result<void> set_thinking(text::ChatRequest& chat, const std::string& thinking) {
  if (thinking == "off" || thinking == "on") {
    chat.thinking = thinking == "on";
    return {};
  }
  constexpr std::pair<std::string_view, int> kEfforts[] = {
      {"low", 50}, {"high", text::kHighEffort}, {"max", 100}};
  for (const auto& [word, effort] : kEfforts) {
    if (thinking != word) continue;
    chat.thinking = true;
    chat.effort = effort;
    return {};
  }
  int effort = 0;
  const char* const last = thinking.data() + thinking.size();
  const auto [end, fault] = std::from_chars(thinking.data(), last, effort);
  if (fault != std::errc{} || end != last || effort < 1 || effort > 100) {
    return Error(Fault::invalid,
                 "thinking: expected off, on, low, high, max or 1 to 100, found \"" + thinking + "\"");
  }
  chat.thinking = true;
  chat.effort = effort;
  return {};
}

Result<Request> request_of(const text::ChatRequest& chat, const text::Tokenizer& tokenizer) {
  const text::Prompt prompt = TRY(text::encode(chat));
  if (!prompt.images().empty())
    return Error(Fault::unsupported, "the messages hold images; only text is read yet");
  const text::ParseOptions parse = text::parse_options(chat, prompt);
  Request request;
  request.prompt = TRY(text::prompt_ids(prompt, tokenizer));
  request.thinking = parse.thinking;
  request.tools = parse.tools;
  request.inside_calls = parse.inside_calls;
  request.stop = parse.stop;
  return request;
}

Request request_of(std::vector<TokenId> ids, const text::Tokenizer* tokenizer) {
  Request request;
  if (tokenizer != nullptr) {
    for (const TokenId id : ids) {
      if (!tokenizer->is_control(id)) continue;
      const std::string_view token = tokenizer->bytes_of(id);
      if (token == text::kThink) request.thinking = true;
      if (token == text::kThinkEnd || token == text::kEos) request.thinking = false;
    }
  }
  request.prompt = std::move(ids);
  return request;
}

}  // namespace manyspan
