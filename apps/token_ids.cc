#include "apps/token_ids.h"

#include <algorithm>
#include <charconv>
#include <fmt/core.h>
#include <limits>
#include <optional>

namespace manyspan::app {
namespace {

constexpr std::string_view kSpace = " \t\r\n";
constexpr std::string_view kBetween = " \t\r\n,";
constexpr std::size_t kShown = 40;  // of what is no id

Error no_id(std::size_t index, std::string_view what) {
  return Error(Fault::corrupt, fmt::format("entry {}: {} is no token id", index + 1, what.substr(0, kShown)));
}

// Without the blanks that it begins with.
std::string_view trimmed(std::string_view text) {
  return text.substr(std::min(text.size(), text.find_first_not_of(kSpace)));
}

Result<std::vector<TokenId>> ids_of_json(std::string_view text) {
  const Json list = TRY(parse_json(text, {.values = kMostJsonValues}));
  return ids_of(*list.array());
}

Result<std::vector<TokenId>> ids_of_words(std::string_view text) {
  std::vector<TokenId> ids;
  text = trimmed(text);
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find_first_of(kBetween));
    TokenId id{};
    const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), id.value);
    if (fault != std::errc() || end != word.data() + word.size() || id.value < 0) {
      return no_id(ids.size(), fmt::format("\"{}\"", word.substr(0, kShown)));
    }
    ids.push_back(id);
    text = trimmed(text.substr(word.size()));
    if (!text.starts_with(',')) continue;
    text = trimmed(text.substr(1));
    if (text.empty()) return no_id(ids.size(), "\"\"");
  }
  return ids;
}

}  // namespace

Result<std::vector<TokenId>> read_ids(std::string_view text, const std::string& place) {
  Result<std::vector<TokenId>> ids = trimmed(text).starts_with('[') ? ids_of_json(text) : ids_of_words(text);
  if (!ids.ok()) return std::move(ids).error().within(place);
  return ids;
}

Result<std::vector<TokenId>> ids_of(const Json::Array& list) {
  std::vector<TokenId> ids;
  ids.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::optional<std::int64_t> id = list[i].integer();
    if (!id || *id < 0 || *id > std::numeric_limits<std::int32_t>::max()) {
      return no_id(i, list[i].number() ? compact_json(list[i]) : std::string(list[i].kind_name()));
    }
    ids.push_back(TokenId{static_cast<std::int32_t>(*id)});
  }
  return ids;
}

Result<void> within_vocabulary(const std::vector<TokenId>& ids, std::int64_t vocabulary) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i].value < vocabulary) continue;
    return Error(Fault::corrupt, fmt::format("entry {}: token id {} is outside the vocabulary of {}", i + 1,
                                             ids[i].value, vocabulary));
  }
  return {};
}

std::vector<std::int32_t> numbers(const std::vector<TokenId>& ids) {
  std::vector<std::int32_t> values;
  values.reserve(ids.size());
  for (const TokenId id : ids) values.push_back(id.value);
  return values;
}

}  // namespace manyspan::app
