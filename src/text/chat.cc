#include "text/chat.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "text/control.h"
#include "text/tools.h"
#include "text/turns.h"

namespace manyspan::text {
namespace {

std::string_view token_of(Task task) {
  switch (task) {
    case Task::action:
      return "<｜action｜>";
    case Task::query:
      return "<｜query｜>";
    case Task::authority:
      return "<｜authority｜>";
    case Task::domain:
      return "<｜domain｜>";
    case Task::title:
      return "<｜title｜>";
    case Task::read_url:
      return "<｜read_url｜>";
  }
  return {};
}

bool opens_assistant(const Message& message, std::size_t index) {
  return message.role == Role::user || (message.role == Role::system && index > 0);
}

// Writes the messages of one conversation, of which `all` are the turns and [first, end) new ones.
class Writer {
 public:
  Writer(const Conversation& conversation, const std::vector<Message>& all, bool dropping)
      : conversation_(conversation), all_(all), dropping_(dropping) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (opens_assistant(all[i], i)) keeps_from_ = i;
    }
  }

  Prompt write(std::size_t first) {
    if (conversation_.add_bos && first == 0) prompt_.control(kBos);
    for (std::size_t i = first; i < all_.size(); ++i) {
      if (i == 0) write_opening();
      write_message(i);
      write_header(i);
    }
    const bool goes_on = !all_.empty() && all_.back().unfinished;
    if (conversation_.always_answer && !answering_ && !goes_on) open_answer(conversation_.thinking);
    if (conversation_.force_calls) prompt_.begin_calls();
    return std::move(prompt_);
  }

 private:
  void write_opening() {
    if (conversation_.thinking || all_[0].role == Role::system) prompt_.control(kSystem);
    if (!conversation_.thinking) return;
    prompt_.text("Reasoning Effort: " + std::to_string(conversation_.effort) +
                 " (range 1-100, the higher the value, the more thorough the reasoning)\n\n");
  }

  void write_message(std::size_t i) {
    const Message& message = all_[i];
    switch (message.role) {
      case Role::system:
        if (i > 0) prompt_.control(kSystem);
        return write_system(message);
      case Role::user:
      case Role::tool:
        prompt_.control(kUser);
        return write_blocks(message.blocks);
      case Role::reminder:
        prompt_.control(kReminder);
        return prompt_.content(message.content);
      case Role::assistant:
        return write_assistant(message, i);
    }
  }

  void write_system(const Message& message) {
    answering_ = false;
    prompt_.content(message.content);
    if (message.tools.array() && !message.tools.array()->empty()) {
      prompt_.text("\n\n");
      write_tools(message.tools, prompt_);
    }
    if (!message.response_format.is_null()) {
      prompt_.text("\n\n");
      write_response_format(message.response_format, prompt_);
    }
  }

  void write_blocks(const std::vector<Block>& blocks) {
    answering_ = false;
    std::string_view between;
    for (const Block& block : blocks) {
      prompt_.text(between);
      if (block.is_result) prompt_.text("<tool_result>");
      prompt_.content(block.content);
      if (block.is_result) prompt_.text("</tool_result>");
      between = "\n\n";
    }
  }

  void write_assistant(const Message& message, std::size_t i) {
    const bool after_task = i > 0 && all_[i - 1].task.has_value();
    const bool kept = !dropping_ || !keeps_from_ || i > *keeps_from_;
    if (conversation_.thinking && !after_task && kept) {
      prompt_.text(message.reasoning);
      if (!message.open_reasoning) prompt_.control(kThinkEnd);
    }
    prompt_.content(message.content);
    if (!message.calls.empty()) write_calls(message.calls, prompt_);
    if (message.unfinished) return;
    prompt_.control(kEos);
    answering_ = false;
  }

  // What a message writes for the one that follows, or for the model.
  void write_header(std::size_t i) {
    const Message& message = all_[i];
    const bool is_last = i + 1 == all_.size();
    if (!is_last && all_[i + 1].role != Role::assistant && all_[i + 1].role != Role::reminder) return;
    if (message.task) {
      if (message.task == Task::action) open_answer(conversation_.thinking);
      prompt_.control(token_of(*message.task));
      answering_ = true;
    } else if (opens_assistant(message, i)) {
      open_answer(conversation_.thinking && (!dropping_ || !keeps_from_ || i >= *keeps_from_));
    }
  }

  void open_answer(bool thinking) {
    prompt_.control(kAssistant);
    prompt_.control(thinking ? kThink : kThinkEnd);
    answering_ = true;
  }

  const Conversation& conversation_;
  const std::vector<Message>& all_;
  bool dropping_;
  std::optional<std::size_t> keeps_from_;  // the last message that opened the assistant's turn
  bool answering_ = false;
  Prompt prompt_;
};

}  // namespace

bool declares_tools(const std::vector<Message>& messages) {
  return std::any_of(messages.begin(), messages.end(), [](const Message& message) {
    return message.tools.array() && !message.tools.array()->empty();
  });
}

Prompt encode(const Conversation& conversation) {
  const bool tools = declares_tools(conversation.context) || declares_tools(conversation.messages);
  std::vector<Message> all = merge_turns(conversation.context);
  const std::size_t first = all.size();
  std::vector<Message> fresh = merge_turns(conversation.messages);
  std::move(fresh.begin(), fresh.end(), std::back_inserter(all));
  order_results(all);
  return Writer(conversation, all, conversation.drop_thinking && !tools).write(first);
}

}  // namespace manyspan::text
