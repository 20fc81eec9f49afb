#include "apps/logits_input.h"

#include <charconv>
#include <fmt/core.h>

#include "apps/status.h"
#include "base/file.h"
#include "base/json.h"

namespace manyspan::app {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;
constexpr std::size_t kMostValues = std::size_t{16} << 20;

Error corrupt(std::string what) { return Error(Fault::corrupt, std::move(what)); }

// Fixtures mark image tokens by their type and name images; text has none of either.
Result<void> refuse_images(const Json& root) {
  const Json* types = root.find("token_types");
  if (types != nullptr && types->array() != nullptr) {
    for (const Json& type : *types->array()) {
      if (type.integer() != 0) return Error(Fault::unsupported, "token_types: only text (0) is read yet");
    }
  }
  const Json* images = root.find("images");
  if (images != nullptr && images->array() != nullptr && !images->array()->empty()) {
    return Error(Fault::unsupported, "images: only text is read yet");
  }
  return {};
}

Result<LogitsInput> read(const std::string& text, std::int64_t vocabulary, std::int64_t context) {
  const Json root = TRY(parse_json(text, {.values = kMostValues}));
  const Json* list = root.array() != nullptr ? &root : root.find("ids");
  if (list == nullptr || list->array() == nullptr)
    return corrupt("expected a list of ids, or an object with one");
  const Json::Array& items = *list->array();
  if (items.empty()) return corrupt("ids: there are none");
  if (static_cast<std::int64_t>(items.size()) > context) {
    return corrupt(fmt::format("ids: {} of them, more than the context of {}", items.size(), context));
  }
  LogitsInput input;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::optional<std::int64_t> id = items[i].integer();
    if (!id) return corrupt(fmt::format("ids: entry {} is {}, no token id", i, items[i].kind_name()));
    if (*id < 0 || *id >= vocabulary) {
      return corrupt(
          fmt::format("ids: entry {}: token id {} is outside the vocabulary of {}", i, *id, vocabulary));
    }
    input.ids.push_back(TokenId{static_cast<std::int32_t>(*id)});
  }
  if (&root == list) return input;
  TRY(refuse_images(root));
  if (const Json* prompt = root.find("prompt_len"); prompt != nullptr && !prompt->is_null()) {
    input.prompt = prompt->integer();
    const auto most = static_cast<std::int64_t>(items.size());
    if (!input.prompt || *input.prompt < 1 || *input.prompt > most) {
      return corrupt(
          fmt::format("prompt_len: {} is not between 1 and the {} ids", compact_json(*prompt), most));
    }
  }
  return input;
}

// Calls take(item) for what stands between commas.
template <class Take>
Result<void> for_each_item(std::string_view list, Take&& take) {
  while (true) {
    const std::size_t comma = list.find(',');
    TRY(take(list.substr(0, comma)));
    if (comma == std::string_view::npos) return {};
    list.remove_prefix(comma + 1);
  }
}

}  // namespace

Result<LogitsInput> read_logits_input(const std::string& path, std::int64_t vocabulary,
                                      std::int64_t context) {
  const std::string text = TRY(of_file(read_file(path, kMostBytes)));
  Result<LogitsInput> input = read(text, vocabulary, context);
  if (!input.ok()) return std::move(input).error().within(path);
  return input;
}

Result<std::vector<std::int64_t>> read_chunks(const std::string& list) {
  std::vector<std::int64_t> chunks;
  TRY(for_each_item(list, [&](std::string_view item) -> Result<void> {
    std::int64_t chunk = 0;
    const auto [end, fault] = std::from_chars(item.data(), item.data() + item.size(), chunk);
    if (fault != std::errc{} || end != item.data() + item.size() || chunk < 1) {
      return misuse(fmt::format("--chunks: \"{}\" is no length", item));
    }
    chunks.push_back(chunk);
    return {};
  }));
  return chunks;
}

Result<std::vector<std::string>> read_names(const std::string& list) {
  std::vector<std::string> names;
  TRY(for_each_item(list, [&](std::string_view item) -> Result<void> {
    if (item.empty()) return misuse("--taps: a name is empty");
    names.emplace_back(item);
    return {};
  }));
  return names;
}

}  // namespace manyspan::app
