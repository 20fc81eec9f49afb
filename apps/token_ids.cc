#include "apps/token_ids.h"

#include <charconv>
#include <fmt/core.h>

namespace manyspan::app {
namespace {

constexpr std::string_view kBetween = " \t\r\n,";
constexpr std::size_t kShown = 40;  // of what is no id

}  // namespace

Result<std::vector<TokenId>> read_ids(std::string_view text, const std::string& place) {
  const auto refuse = [&](std::size_t nth, std::string_view word) {
    return Error(Fault::corrupt, fmt::format("{}: entry {}: \"{}\" is no token id", place, nth,
                                             word.substr(0, std::min(word.size(), kShown))));
  };
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '[') {
    const std::size_t last = text.find_last_not_of(" \t\r\n");
    if (text[last] != ']' || last == first) {
      return Error(Fault::corrupt, place + ": the list of ids has no end");
    }
    text = text.substr(first + 1, last - first - 1);
  }
  std::vector<TokenId> ids;
  while (true) {
    const std::size_t begin = text.find_first_not_of(kBetween);
    if (begin == std::string_view::npos) return ids;
    text.remove_prefix(begin);
    const std::string_view word = text.substr(0, text.find_first_of(kBetween));
    TokenId id{};
    const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), id.value);
    if (fault != std::errc() || end != word.data() + word.size() || id.value < 0) {
      return refuse(ids.size() + 1, word);
    }
    ids.push_back(id);
    text.remove_prefix(word.size());
  }
}

std::vector<std::int32_t> numbers(const std::vector<TokenId>& ids) {
  std::vector<std::int32_t> values;
  values.reserve(ids.size());
  for (const TokenId id : ids) values.push_back(id.value);
  return values;
}

}  // namespace manyspan::app
