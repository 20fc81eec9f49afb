#include "text/tokenizer_json.h"

#include <array>
#include <cstdint>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/json.h"
#include "text/in_quotes.h"

namespace manyspan::text {
namespace {

// The only expressions that pretokenize.h knows.
constexpr std::array<std::string_view, 3> kSplits = {
    R"(\p{N}{1,3})", "[一-龥\u3040-ゟ゠-ヿ]+",
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+|"
    " ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"};

Error corrupt(std::string what) { return Error(Fault::corrupt, std::move(what)); }
Error unsupported(std::string what) { return Error(Fault::unsupported, std::move(what)); }

// Null where the key is missing, so that one check serves both.
const Json& at(const Json& object, std::string_view key) {
  static const Json null;
  const Json* found = object.find(key);
  return found != nullptr ? *found : null;
}

// A value for a message. Never spells out what is inside a list or object.
std::string shown(const Json& value) {
  if (value.string() != nullptr) return in_quotes(*value.string());
  if (value.array() != nullptr) return "a list of " + std::to_string(value.array()->size());
  if (value.object() == nullptr) return compact_json(value);
  const Json& type = at(value, "type");
  if (type.string() != nullptr) return "of type " + in_quotes(*type.string());
  return "an object of " + std::to_string(value.object()->size()) + " keys";
}

bool is(const Json& value, std::string_view text) {
  return value.string() != nullptr && *value.string() == text;
}
bool off(const Json& value) { return value.is_null() || value.boolean() == false; }
bool has_type(const Json& value, std::string_view type) { return is(at(value, "type"), type); }

Result<void> check_normalizer(const Json& normalizer) {
  const Json& steps = at(normalizer, "normalizers");
  if (normalizer.is_null() ||
      (has_type(normalizer, "Sequence") && steps.array() != nullptr && steps.array()->empty()))
    return {};
  return unsupported("normalizer: " + shown(normalizer) + " would change the text; only none is supported");
}

Result<void> check_split(const Json& step, std::size_t index) {
  const bool known = has_type(step, "Split") && is(at(at(step, "pattern"), "Regex"), kSplits[index]) &&
                     is(at(step, "behavior"), "Isolated") && off(at(step, "invert"));
  if (known) return {};
  return unsupported("pre_tokenizer: step " + std::to_string(index) + ", " + shown(step) +
                     ", is not the split that this tokenizer's text is cut by");
}

Result<void> check_pre_tokenizer(const Json& pre_tokenizer) {
  const Json::Array* steps = at(pre_tokenizer, "pretokenizers").array();
  if (!has_type(pre_tokenizer, "Sequence") || steps == nullptr || steps->size() != kSplits.size() + 1) {
    return unsupported("pre_tokenizer: " + shown(pre_tokenizer) + "; expected three splits and ByteLevel");
  }
  for (std::size_t i = 0; i < kSplits.size(); ++i) TRY(check_split((*steps)[i], i));
  const Json& last = steps->back();
  if (has_type(last, "ByteLevel") && at(last, "add_prefix_space").boolean() == false &&
      at(last, "use_regex").boolean() == false)
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
  if (model.object() == nullptr) return corrupt("model: missing or no object");
  if (!has_type(model, "BPE"))
    return unsupported("model.type: " + shown(at(model, "type")) + "; expected \"BPE\"");
  for (const char* key : {"unk_token", "byte_fallback", "fuse_unk", "dropout", "ignore_merges",
                          "continuing_subword_prefix", "end_of_word_suffix"}) {
    const Json& value = at(model, key);
    if (off(value) || is(value, "")) continue;
    return unsupported(std::string("model.") + key + ": " + shown(value) + "; expected none");
  }
  return {};
}

// Puts `spelling` at its id. Spellings stay empty where no token has come yet.
Result<TokenId> place(Vocabulary& vocabulary, const std::string& spelling, const Json& id) {
  const std::size_t count = vocabulary.spellings.size();
  const auto index = id.natural();
  if (!index || *index >= count) {
    return corrupt(in_quotes(spelling) + ": id " + shown(id) + " is none of 0 to " +
                   std::to_string(count - 1) + ", though the file lists " + std::to_string(count) +
                   " tokens");
  }
  std::string& holder = vocabulary.spellings[*index];
  if (spelling.empty()) return corrupt("id " + shown(id) + " has no text");
  if (!holder.empty() && holder != spelling) {
    return corrupt("id " + shown(id) + " is both " + in_quotes(holder) + " and " + in_quotes(spelling));
  }
  holder = spelling;
  return TokenId{static_cast<std::int32_t>(*index)};
}

Result<std::string> added_text(const Json& token) {
  const Json& content = at(token, "content");
  if (content.string() == nullptr) return corrupt("content: missing or no string");
  for (const char* key : {"single_word", "lstrip", "rstrip"}) {
    if (off(at(token, key))) continue;
    return unsupported(std::string(key) + ": " + shown(at(token, key)) + "; expected false");
  }
  return *content.string();
}

Result<void> read_tokens(const Json::Object& vocab, const Json::Array& added, Vocabulary& vocabulary) {
  std::unordered_set<std::string> texts;
  for (std::size_t i = 0; i < added.size(); ++i) {
    const std::string place = "added_tokens[" + std::to_string(i) + "]";
    auto text = added_text(added[i]);
    if (!text.ok()) return std::move(text).error().within(place);
    if (!texts.insert(text.value()).second)
      return corrupt(place + ": " + in_quotes(text.value()) + " is listed twice");
  }
  // A token may be in both lists.
  std::size_t count = vocab.size() + texts.size();
  for (const auto& [spelling, id] : vocab) count -= texts.count(spelling);
  if (count > kMostTokens)
    return corrupt(std::to_string(count) + " tokens, more than " + std::to_string(kMostTokens));

  vocabulary.spellings.resize(count);
  for (const auto& [spelling, id] : vocab) {
    auto placed = place(vocabulary, spelling, id);
    if (!placed.ok()) return std::move(placed).error().within("model.vocab");
  }
  for (const Json& token : added) {
    auto placed = place(vocabulary, *at(token, "content").string(), at(token, "id"));
    if (!placed.ok()) return std::move(placed).error().within("added_tokens");
    vocabulary.added.push_back(placed.value());
  }
  for (std::size_t id = 0; id < count; ++id) {
    if (vocabulary.spellings[id].empty()) return corrupt("no token has id " + std::to_string(id));
  }
  return {};
}

// Both spellings: "a b", and ["a", "b"].
Result<void> read_merges(const Json::Array& merges, Vocabulary& vocabulary) {
  if (merges.size() > kMostTokens) {
    return corrupt(std::to_string(merges.size()) + " merges, more than " + std::to_string(kMostTokens));
  }
  vocabulary.merges.reserve(merges.size());
  for (const Json& merge : merges) {
    if (const std::string* text = merge.string()) {
      const std::size_t space = text->find(' ');
      if (space != std::string::npos && text->find(' ', space + 1) == std::string::npos) {
        vocabulary.merges.emplace_back(text->substr(0, space), text->substr(space + 1));
        continue;
      }
    } else if (const Json::Array* parts = merge.array(); parts != nullptr && parts->size() == 2) {
      const std::string *left = (*parts)[0].string(), *right = (*parts)[1].string();
      if (left != nullptr && right != nullptr) {
        vocabulary.merges.emplace_back(*left, *right);
        continue;
      }
    }
    return corrupt("model.merges[" + std::to_string(vocabulary.merges.size()) + "]: " + shown(merge) +
                   "; expected two parts");
  }
  return {};
}

Result<Vocabulary> read(const Json& root) {
  if (root.object() == nullptr) return corrupt("no JSON object");
  TRY(check_normalizer(at(root, "normalizer")));
  TRY(check_pre_tokenizer(at(root, "pre_tokenizer")));
  TRY(check_ends(root));
  const Json& model = at(root, "model");
  TRY(check_model(model));
  const Json::Object* vocab = at(model, "vocab").object();
  const Json::Array* merges = at(model, "merges").array();
  const Json::Array* added = at(root, "added_tokens").array();
  if (vocab == nullptr) return corrupt("model.vocab: missing or no object");
  if (merges == nullptr) return corrupt("model.merges: missing or no list");
  if (added == nullptr) return corrupt("added_tokens: missing or no list");
  Vocabulary vocabulary;
  TRY(read_tokens(*vocab, *added, vocabulary));
  TRY(read_merges(*merges, vocabulary));
  return vocabulary;
}

}  // namespace

std::span<const std::string_view> tokenizer_splits() { return kSplits; }

Result<Vocabulary> read_tokenizer_json(std::string_view json, const std::string& name) {
  auto root = parse_json(json);
  if (!root.ok()) return std::move(root).error().within(name);
  auto vocabulary = read(root.value());
  if (!vocabulary.ok()) return std::move(vocabulary).error().within(name);
  return vocabulary;
}

}  // namespace manyspan::text
