#include "apps/logits_input.h"

#include <charconv>
#include <fmt/core.h>

#include "apps/status.h"
#include "apps/token_ids.h"
#include "base/file.h"
#include "base/json.h"

namespace manyspan::app {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;

Error corrupt(std::string what) { return Error(Fault::corrupt, std::move(what)); }

// Fixtures mark image tokens by their type and name images; text has none of either.
Result<void> refuse_images(const Json& root, std::size_t ids) {
  const Json* types = root.find("token_types");
  if (types != nullptr && !types->is_null()) {
    if (types->array() == nullptr) return corrupt("token_types: expected a list");
    if (types->array()->size() != ids) {
      return corrupt(
          fmt::format("token_types: {} of them, where there are {} ids", types->array()->size(), ids));
    }
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

Result<LogitsInput> logits_input_of(std::string_view text) {
  const Json root = TRY(parse_json(text, {.values = kMostJsonValues}));
  const Json* list = root.array() != nullptr ? &root : root.find("ids");
  if (list == nullptr || list->array() == nullptr)
    return corrupt("expected a list of ids, or an object with one");
  if (list->array()->empty()) return corrupt("ids: there are none");
  Result<std::vector<TokenId>> ids = ids_of(*list->array());
  if (!ids.ok()) return std::move(ids).error().within("ids");
  LogitsInput input;
  input.ids = std::move(ids).value();
  if (&root == list) return input;
  TRY(refuse_images(root, input.ids.size()));
  if (const Json* prompt = root.find("prompt_len"); prompt != nullptr && !prompt->is_null()) {
    input.prompt = prompt->integer();
    const auto most = static_cast<std::int64_t>(input.ids.size());
    if (!input.prompt || *input.prompt < 1 || *input.prompt > most) {
      return corrupt(
          fmt::format("prompt_len: {} is not between 1 and the {} ids", compact_json(*prompt), most));
    }
  }
  return input;
}

Result<LogitsInput> read_logits_input(const std::string& path) {
  const std::string text = TRY(of_file(read_file(path, kMostBytes)));
  Result<LogitsInput> input = logits_input_of(text);
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
