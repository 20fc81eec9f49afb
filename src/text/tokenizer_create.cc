// Tokenizer::create: a vocabulary's parts checked against each other and put together.
#include <algorithm>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/utf8.h"
#include "text/byte_letters.h"
#include "text/in_quotes.h"
#include "text/tokenizer.h"

namespace manyspan::text {
namespace {

using Ids = std::unordered_map<std::string_view, TokenId>;

Error corrupt(std::string what) { return Error(Fault::corrupt, std::move(what)); }

Result<Bpe::ByteTokens> find_byte_tokens(const Ids& ids) {
  Bpe::ByteTokens tokens;
  for (int byte = 0; byte < 256; ++byte) {
    std::string letter;
    append_utf8(letter, letter_of(static_cast<unsigned char>(byte)));
    const auto found = ids.find(letter);
    if (found == ids.end()) {
      return corrupt("byte " + std::to_string(byte) + ", spelled " + in_quotes(letter) + ", is no token");
    }
    tokens[static_cast<std::size_t>(byte)] = found->second;
  }
  return tokens;
}

std::string shown_merge(const Vocabulary& vocabulary, std::size_t rank) {
  const auto& [left, right] = vocabulary.merges[rank];
  return "merge " + std::to_string(rank) + ", " + in_quotes(left + " " + right);
}

Result<std::vector<Merge>> find_merges(const Vocabulary& vocabulary, const Ids& ids) {
  std::vector<Merge> merges;
  merges.reserve(vocabulary.merges.size());
  std::string joined;
  for (const auto& [left, right] : vocabulary.merges) {
    joined.assign(left).append(right);
    Merge merge{};
    const std::pair<const std::string*, TokenId*> parts[] = {
        {&left, &merge.left}, {&right, &merge.right}, {&joined, &merge.joined}};
    for (const auto& [spelling, id] : parts) {
      const auto found = ids.find(*spelling);
      if (found == ids.end()) {
        return corrupt(shown_merge(vocabulary, merges.size()) + ": " + in_quotes(*spelling) + " is no token");
      }
      *id = found->second;
    }
    merges.push_back(merge);
  }
  return merges;
}

Result<void> check_pairs_differ(const Vocabulary& vocabulary, const std::vector<Merge>& merges) {
  using Ranked = std::tuple<TokenId, TokenId, std::size_t>;
  std::vector<Ranked> sorted;
  sorted.reserve(merges.size());
  for (const Merge& merge : merges) sorted.emplace_back(merge.left, merge.right, sorted.size());
  std::sort(sorted.begin(), sorted.end());
  const auto same = std::adjacent_find(sorted.begin(), sorted.end(), [](const Ranked& a, const Ranked& b) {
    return std::get<0>(a) == std::get<0>(b) && std::get<1>(a) == std::get<1>(b);
  });
  if (same == sorted.end()) return {};
  return corrupt(shown_merge(vocabulary, std::get<2>(same[1])) + ": listed before as " +
                 std::to_string(std::get<2>(same[0])));
}

}  // namespace

Result<Tokenizer> Tokenizer::create(const Vocabulary& vocabulary, const std::string& name) {
  const std::size_t count = vocabulary.spellings.size();
  if (count > kMostTokens) {
    return corrupt(name + ": " + std::to_string(count) + " tokens, more than " + std::to_string(kMostTokens));
  }
  std::vector<bool> control(count);
  std::vector<AddedToken> added;
  std::unordered_set<std::string_view> texts;
  for (const TokenId id : vocabulary.added) {
    const auto index = static_cast<std::size_t>(id.value);
    if (id.value < 0 || index >= count || control[index]) {
      return corrupt(name + ": added token id " + std::to_string(id.value) + " of " + std::to_string(count) +
                     (id.value >= 0 && index < count ? " is listed twice" : " is out of range"));
    }
    if (vocabulary.spellings[index].empty()) {
      return corrupt(name + ": added token " + std::to_string(id.value) + " has no text");
    }
    control[index] = true;
    if (!vocabulary.may_repeat || texts.insert(vocabulary.spellings[index]).second)
      added.push_back({vocabulary.spellings[index], id});
  }

  std::string bytes;
  std::vector<std::uint32_t> ends;
  Ids ids;
  ends.reserve(count);
  ids.reserve(count);
  for (std::size_t index = 0; index < count; ++index) {
    const std::string& spelling = vocabulary.spellings[index];
    const TokenId id{static_cast<std::int32_t>(index)};
    const auto place = [&] { return name + ": token " + std::to_string(index) + ", " + in_quotes(spelling); };
    if (const auto [other, first] = ids.try_emplace(spelling, id); !first) {
      if (!vocabulary.may_repeat)
        return corrupt(place() + ": spelled as token " + std::to_string(other->second.value) + " is");
      if (control[static_cast<std::size_t>(other->second.value)] && !control[index]) other->second = id;
    }
    if (control[index]) {
      bytes += spelling;
    } else {
      const auto spelled = bytes_of_spelling(spelling);
      if (!spelled || spelled->empty()) return corrupt(place() + ": not spelled in byte letters");
      bytes += *spelled;
    }
    if (bytes.size() > UINT32_MAX) return corrupt(place() + ": the tokens hold 4 GiB or more");
    ends.push_back(static_cast<std::uint32_t>(bytes.size()));
  }

  auto byte_tokens = find_byte_tokens(ids);
  if (!byte_tokens.ok()) return std::move(byte_tokens).error().within(name);
  auto merges = find_merges(vocabulary, ids);
  if (!merges.ok()) return std::move(merges).error().within(name);
  auto differ = check_pairs_differ(vocabulary, merges.value());
  if (!differ.ok()) return std::move(differ).error().within(name);

  Tokenizer tokenizer(Bpe(byte_tokens.value(), merges.value()), AddedTokens(std::move(added)));
  tokenizer.bytes_ = std::move(bytes);
  tokenizer.ends_ = std::move(ends);
  tokenizer.control_ = std::move(control);
  return tokenizer;
}

}  // namespace manyspan::text
