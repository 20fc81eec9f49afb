#include "text/tokenizer_json.h"

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <utility>
#include <vector>

#include "text/in_quotes.h"
#include "text/utf8.h"

namespace manyspan::text {
namespace {

using Json = nlohmann::json;

// The only expressions that pretokenize.h knows.
constexpr std::array<std::string_view, 3> kSplits = {
    R"(\p{N}{1,3})", "[一-龥\u3040-ゟ゠-ヿ]+",
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+|"
    " ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"};

Error corrupt(std::string what) { return Error(Fault::corrupt, std::move(what)); }
Error unsupported(std::string what) { return Error(Fault::unsupported, std::move(what)); }

// A value as the file spells it, short enough for a message.
std::string shown(const Json& value) {
  constexpr std::size_t kLongest = 80;
  if (value.is_structured() && value.size() > 8) return value.is_array() ? "a long list" : "a large object";
  const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.size() <= kLongest ? text : replace_invalid_utf8(text.substr(0, kLongest)) + "...";
}

// Null where the key is missing, so that one check serves both.
const Json& at(const Json& object, const char* key) {
  static const Json null;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() ? *found : null;
}

bool off(const Json& value) { return value.is_null() || value == false; }
bool has_type(const Json& value, std::string_view type) {
  return value.is_object() && at(value, "type") == type;
}

Result<void> check_normalizer(const Json& normalizer) {
  const Json& steps = at(normalizer, "normalizers");
  if (normalizer.is_null() || (has_type(normalizer, "Sequence") && steps.is_array() && steps.empty()))
    return {};
  return unsupported("normalizer: " + shown(normalizer) + " would change the text; only none is supported");
}

Result<void> check_split(const Json& step, std::size_t index) {
  const bool known = has_type(step, "Split") && at(at(step, "pattern"), "Regex") == kSplits[index] &&
                     at(step, "behavior") == "Isolated" && off(at(step, "invert"));
  if (known) return {};
  return unsupported("pre_tokenizer: step " + std::to_string(index) + ", " + shown(step) +
                     ", is not the split that this tokenizer's text is cut by");
}

Result<void> check_pre_tokenizer(const Json& pre_tokenizer) {
  const Json& steps = at(pre_tokenizer, "pretokenizers");
  if (!has_type(pre_tokenizer, "Sequence") || !steps.is_array() || steps.size() != kSplits.size() + 1) {
    return unsupported("pre_tokenizer: " + shown(pre_tokenizer) + "; expected three splits and ByteLevel");
  }
  for (std::size_t i = 0; i < kSplits.size(); ++i) TRY(check_split(steps[i], i));
  const Json& last = steps[kSplits.size()];
  if (has_type(last, "ByteLevel") && at(last, "add_prefix_space") == false && at(last, "use_regex") == false)
    return {};
  return unsupported("pre_tokenizer: the last step is " + shown(last) +
                     "; expected ByteLevel with neither a prefix space nor its own expression");
}

Result<void> check_ends(const Json& root) {
  const Json& after = at(root, "post_processor");
  if (!after.is_null() && !has_type(after, "ByteLevel")) {
    return unsupported("post_processor: " + shown(after) + "; expected ByteLevel, which adds no tokens");
  }
  const Json& decoder = at(root, "decoder");
  if (!has_type(decoder, "ByteLevel"))
    return unsupported("decoder: " + shown(decoder) + "; expected ByteLevel");
  return {};
}

Result<void> check_model(const Json& model) {
  if (!model.is_object()) return corrupt("model: missing or no object");
  if (at(model, "type") != "BPE")
    return unsupported("model.type: " + shown(at(model, "type")) + "; expected \"BPE\"");
  for (const char* key : {"unk_token", "byte_fallback", "fuse_unk", "dropout", "ignore_merges",
                          "continuing_subword_prefix", "end_of_word_suffix"}) {
    const Json& value = at(model, key);
    if (off(value) || value == "") continue;
    return unsupported(std::string("model.") + key + ": " + shown(value) + "; expected none");
  }
  return {};
}

// Puts `spelling` at its id. Spellings stay empty where no token has come yet.
Result<void> place(Vocabulary& vocabulary, const std::string& spelling, const Json& id) {
  const std::size_t count = vocabulary.spellings.size();
  if (!id.is_number_integer() || id < 0 || id >= count) {
    return corrupt(in_quotes(spelling) + ": id " + shown(id) + " is none of 0 to " +
                   std::to_string(count - 1) + ", though the file lists " + std::to_string(count) +
                   " tokens");
  }
  std::string& holder = vocabulary.spellings[id.get<std::size_t>()];
  if (spelling.empty()) return corrupt("id " + shown(id) + " has no text");
  if (!holder.empty() && holder != spelling) {
    return corrupt("id " + shown(id) + " is both " + in_quotes(holder) + " and " + in_quotes(spelling));
  }
  holder = spelling;
  return {};
}

Result<void> check_added(const Json& token) {
  if (!at(token, "content").is_string()) return corrupt("content: missing or no string");
  for (const char* key : {"single_word", "lstrip", "rstrip"}) {
    if (!off(at(token, key)))
      return unsupported(std::string(key) + ": " + shown(at(token, key)) + "; expected false");
  }
  return {};
}

Result<void> read_tokens(const Json& vocab, const Json& added, Vocabulary& vocabulary) {
  if (!vocab.is_object()) return corrupt("model.vocab: missing or no object");
  if (!added.is_array()) return corrupt("added_tokens: missing or no list");
  // An id may be in both lists, so the number of tokens is known only after looking.
  std::size_t count = vocab.size();
  std::unordered_set<std::int64_t> added_ids;
  for (std::size_t i = 0; i < added.size(); ++i) {
    const std::string where = "added_tokens[" + std::to_string(i) + "]";
    auto checked = check_added(added[i]);
    if (!checked.ok()) return std::move(checked).error().within(where);
    const Json& id = at(added[i], "id");
    if (!id.is_number_integer()) return corrupt(where + ": id: missing or no integer");
    if (!added_ids.insert(id.get<std::int64_t>()).second)
      return corrupt(where + ": id " + shown(id) + " is listed twice");
    const auto in_vocab = vocab.find(added[i]["content"].get_ref<const std::string&>());
    if (in_vocab == vocab.end()) ++count;
  }
  if (count > kMostTokens) {
    return corrupt(std::to_string(count) + " tokens, more than " + std::to_string(kMostTokens));
  }
  vocabulary.spellings.resize(count);
  for (const auto& [spelling, id] : vocab.items()) {
    auto placed = place(vocabulary, spelling, id);
    if (!placed.ok()) return std::move(placed).error().within("model.vocab");
  }
  for (const Json& token : added) {
    auto placed = place(vocabulary, token["content"].get_ref<const std::string&>(), token["id"]);
    if (!placed.ok()) return std::move(placed).error().within("added_tokens");
    vocabulary.added.push_back(TokenId{token["id"].get<std::int32_t>()});
  }
  for (std::size_t id = 0; id < count; ++id) {
    if (vocabulary.spellings[id].empty()) return corrupt("no token has id " + std::to_string(id));
  }
  return {};
}

// Both spellings: "a b", and ["a", "b"].
Result<void> read_merges(const Json& merges, Vocabulary& vocabulary) {
  if (!merges.is_array()) return corrupt("model.merges: missing or no list");
  if (merges.size() > kMostTokens) {
    return corrupt("model.merges: " + std::to_string(merges.size()) + ", more than " +
                   std::to_string(kMostTokens));
  }
  vocabulary.merges.reserve(merges.size());
  for (const Json& merge : merges) {
    if (merge.is_string()) {
      const auto& text = merge.get_ref<const std::string&>();
      const std::size_t space = text.find(' ');
      if (space != std::string::npos && text.find(' ', space + 1) == std::string::npos) {
        vocabulary.merges.emplace_back(text.substr(0, space), text.substr(space + 1));
        continue;
      }
    } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
      vocabulary.merges.emplace_back(merge[0], merge[1]);
      continue;
    }
    return corrupt("model.merges[" + std::to_string(vocabulary.merges.size()) + "]: " + shown(merge) +
                   "; expected two parts");
  }
  return {};
}

Result<Vocabulary> read(const Json& root) {
  if (!root.is_object()) return corrupt("no JSON object");
  TRY(check_normalizer(at(root, "normalizer")));
  TRY(check_pre_tokenizer(at(root, "pre_tokenizer")));
  TRY(check_ends(root));
  const Json& model = at(root, "model");
  TRY(check_model(model));
  Vocabulary vocabulary;
  TRY(read_tokens(at(model, "vocab"), at(root, "added_tokens"), vocabulary));
  TRY(read_merges(at(model, "merges"), vocabulary));
  return vocabulary;
}

}  // namespace

Result<Vocabulary> read_tokenizer_json(std::string_view json, const std::string& name) {
  Json root;
  try {
    root = Json::parse(json);
  } catch (const Json::parse_error& error) {
    return corrupt(name + ": byte " + std::to_string(error.byte) + ": not JSON");
  } catch (const Json::exception&) {  // a number that no type holds
    return corrupt(name + ": a number out of range");
  }
  auto vocabulary = read(root);
  if (!vocabulary.ok()) return std::move(vocabulary).error().within(name);
  return vocabulary;
}

}  // namespace manyspan::text
