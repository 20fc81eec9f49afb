#include "text/turns.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <unordered_map>
#include <utility>

namespace manyspan::text {

std::vector<Message> merge_turns(std::vector<Message> messages) {
  std::vector<Message> merged;
  for (Message& message : messages) {
    const bool is_tool = message.role == Role::tool;
    Message* before = merged.empty() ? nullptr : &merged.back();
    const bool joins = before && before->role == Role::user && (is_tool || !before->task);
    if (joins && (is_tool || message.role == Role::user)) {
      std::move(message.blocks.begin(), message.blocks.end(), std::back_inserter(before->blocks));
      if (message.task) before->task = message.task;
    } else {
      if (is_tool) message.role = Role::user;
      merged.push_back(std::move(message));
    }
  }
  return merged;
}

void order_results(std::vector<Message>& messages) {
  std::unordered_map<std::string, std::size_t> order;
  const auto place = [&](const Block& block) {
    const auto found = order.find(block.id);
    return found == order.end() ? 0 : found->second;
  };
  for (Message& message : messages) {
    if (message.role == Role::assistant && !message.calls.empty()) {
      order.clear();
      for (std::size_t i = 0; i < message.calls.size(); ++i) {
        if (!message.calls[i].id.empty()) order[message.calls[i].id] = i;
      }
    }
    if (message.role != Role::user || order.empty()) continue;
    std::vector<Block> results;
    for (Block& block : message.blocks) {
      if (block.is_result) results.push_back(std::move(block));
    }
    std::stable_sort(results.begin(), results.end(),
                     [&](const Block& a, const Block& b) { return place(a) < place(b); });
    auto next = results.begin();
    for (Block& block : message.blocks) {
      if (block.is_result) block = std::move(*next++);
    }
  }
}

}  // namespace manyspan::text
