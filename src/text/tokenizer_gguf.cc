#include "text/tokenizer_gguf.h"

#include <utility>

#include "text/in_quotes.h"

namespace manyspan::text {
namespace {

constexpr std::string_view kTokens = "tokenizer.ggml.tokens", kTypes = "tokenizer.ggml.token_type",
                           kMerges = "tokenizer.ggml.merges", kModel = "tokenizer.ggml.model",
                           kCutting = "tokenizer.ggml.pre", kWhole = "tokenizer.huggingface.json";

// Of a token.
constexpr std::int64_t kControl = 3, kUserDefined = 4, kUnused = 5, kLastType = 6;

Error corrupt(std::string_view key, const std::string& what) {
  return Error(Fault::corrupt, std::string(key) + ": " + what);
}

Result<const Json::Array*> list(const Json& metadata, std::string_view key) {
  const Json* value = metadata.find(key);
  if (value == nullptr) return corrupt(key, "missing, though " + std::string(kTokens) + " is there");
  if (value->array() == nullptr)
    return corrupt(key, "expected a list, found " + std::string(value->kind_name()));
  if (value->array()->size() > kMostTokens) {
    return corrupt(
        key, std::to_string(value->array()->size()) + " entries, more than " + std::to_string(kMostTokens));
  }
  return value->array();
}

std::string entry(std::string_view key, std::size_t i) {
  return std::string(key) + "[" + std::to_string(i) + "]";
}

// The kind of tokenizer, and how text is cut before merging.
Result<void> check_kind(const Json& metadata, std::vector<std::string>& warnings) {
  const Json* model = metadata.find(kModel);
  if (model == nullptr || model->string() == nullptr || *model->string() != "gpt2") {
    const std::string said = model == nullptr ? "missing" : compact_json(*model);
    return Error(Fault::unsupported, std::string(kModel) + ": " + said + "; expected \"gpt2\"");
  }
  const Json* cutting = metadata.find(kCutting);
  const std::string said = cutting == nullptr             ? "missing"
                           : cutting->string() == nullptr ? compact_json(*cutting)
                                                          : in_quotes(*cutting->string());
  if (cutting != nullptr && cutting->string() != nullptr) {
    if (*cutting->string() == "joyai-llm") return {};
    if (!cutting->string()->starts_with("deepseek-v4"))
      return Error(Fault::unsupported, std::string(kCutting) + ": " + said + "; expected \"joyai-llm\"");
  }
  warnings.push_back(std::string(kCutting) + ": " + said + "; text is cut as \"joyai-llm\" has it");
  return {};
}

Result<void> read_tokens(const Json& metadata, Vocabulary& vocabulary) {
  const Json::Array &tokens = *TRY(list(metadata, kTokens)), &types = *TRY(list(metadata, kTypes));
  if (types.size() != tokens.size()) {
    return corrupt(kTypes, std::to_string(types.size()) + " entries, but " + std::string(kTokens) + " has " +
                               std::to_string(tokens.size()));
  }
  std::size_t used = 0;  // what fills the list up to the model's number of rows is no token
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string* spelling = tokens[i].string();
    if (spelling == nullptr)
      return corrupt(entry(kTokens, i), "expected a text, found " + std::string(tokens[i].kind_name()));
    const auto type = types[i].integer();
    if (!type || *type < 0 || *type > kLastType)
      return corrupt(entry(kTypes, i), compact_json(types[i]) + " is no type of token");
    vocabulary.spellings.push_back(*spelling);
    if (*type == kControl || *type == kUserDefined)
      vocabulary.added.push_back({static_cast<std::int32_t>(i)});
    if (*type != kUnused) used = i + 1;
  }
  vocabulary.spellings.resize(used);
  return {};
}

Result<void> read_merges(const Json& metadata, Vocabulary& vocabulary) {
  const Json::Array& merges = *TRY(list(metadata, kMerges));
  vocabulary.merges.reserve(merges.size());
  for (const Json& merge : merges) {
    const std::string* text = merge.string();
    const std::size_t space = text == nullptr ? std::string::npos : text->find(' ');
    if (space == std::string::npos || text->find(' ', space + 1) != std::string::npos) {
      return corrupt(
          entry(kMerges, vocabulary.merges.size()),
          (text == nullptr ? std::string(merge.kind_name()) : in_quotes(*text)) + "; expected two parts");
    }
    vocabulary.merges.emplace_back(text->substr(0, space), text->substr(space + 1));
  }
  return {};
}

Result<Vocabulary> read(const Json& metadata, std::vector<std::string>& warnings) {
  TRY(check_kind(metadata, warnings));
  Vocabulary vocabulary;
  vocabulary.may_repeat = true;
  TRY(read_tokens(metadata, vocabulary));
  TRY(read_merges(metadata, vocabulary));
  return vocabulary;
}

}  // namespace

Result<GgufTokenizer> read_gguf_tokenizer(const Json& metadata, const std::string& name) {
  GgufTokenizer read_so_far;
  if (metadata.find(kTokens) != nullptr) {
    auto vocabulary = read(metadata, read_so_far.warnings);
    if (!vocabulary.ok()) return std::move(vocabulary).error().within(name);
    read_so_far.tokenizer = TRY(Tokenizer::create(vocabulary.value(), name));
  } else if (const Json* whole = metadata.find(kWhole); whole != nullptr && whole->string() != nullptr) {
    read_so_far.tokenizer = TRY(Tokenizer::parse(*whole->string(), name + ": " + std::string(kWhole)));
  }
  return read_so_far;
}

}  // namespace manyspan::text
