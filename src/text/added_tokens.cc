#include "text/added_tokens.h"

#include <algorithm>

namespace manyspan::text {

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : sorted_(std::move(tokens)) {
  std::sort(sorted_.begin(), sorted_.end(), [](const auto& a, const auto& b) { return a.text < b.text; });
  for (const AddedToken& token : sorted_) starts_[static_cast<unsigned char>(token.text.front())] = true;
}

std::optional<AddedTokens::Found> AddedTokens::find(std::string_view text, std::size_t from,
                                                    std::size_t to) const {
  for (; from < to; ++from) {
    if (!starts_[static_cast<unsigned char>(text[from])]) continue;
    if (const auto found = longest_at(text, from, to)) return found;
  }
  return std::nullopt;
}

std::optional<AddedTokens::Found> AddedTokens::longest_at(std::string_view text, std::size_t from,
                                                          std::size_t to) const {
  std::optional<Found> longest;
  auto low = sorted_.begin(), high = sorted_.end();  // those that begin with the bytes from `from` to `end`
  for (std::size_t end = from; end < to && low != high; ++end) {
    const std::size_t place = end - from;
    const auto byte = static_cast<unsigned char>(text[end]);
    const auto byte_of = [&](const AddedToken& token) {
      return static_cast<unsigned char>(token.text[place]);
    };
    low = std::partition_point(low, high, [&](const AddedToken& token) { return byte_of(token) < byte; });
    high = std::partition_point(low, high, [&](const AddedToken& token) { return byte_of(token) == byte; });
    if (low != high && low->text.size() == place + 1) {
      longest = Found{from, end + 1, low->id};
      ++low;
    }
  }
  return longest;
}

std::optional<TokenId> AddedTokens::id_of(std::string_view text) const {
  const auto at =
      std::lower_bound(sorted_.begin(), sorted_.end(), text,
                       [](const AddedToken& token, std::string_view wanted) { return token.text < wanted; });
  if (at == sorted_.end() || at->text != text) return std::nullopt;
  return at->id;
}

}  // namespace manyspan::text
