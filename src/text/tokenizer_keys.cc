#include "text/tokenizer_keys.h"

#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <utility>

#include "text/in_quotes.h"
#include "text/tokenizer_json.h"

namespace manyspan::text {
namespace {

constexpr std::int64_t kNormal = 1, kControl = 3, kUserDefined = 4, kUnused = 5;

Json byte_level(bool prefix_space, bool trim, bool own_expression) {
  Json step = Json::Object{};
  step.set("type", "ByteLevel");
  step.set("add_prefix_space", prefix_space);
  step.set("trim_offsets", trim);
  step.set("use_regex", own_expression);
  return step;
}

Json pre_tokenizer() {
  Json::Array steps;
  for (const std::string_view expression : tokenizer_splits()) {
    Json step = Json::Object{}, pattern = Json::Object{};
    pattern.set("Regex", expression);
    step.set("type", "Split");
    step.set("pattern", std::move(pattern));
    step.set("behavior", "Isolated");
    step.set("invert", false);
    steps.push_back(std::move(step));
  }
  steps.push_back(byte_level(false, true, false));
  Json sequence = Json::Object{};
  sequence.set("type", "Sequence");
  sequence.set("pretokenizers", std::move(steps));
  return sequence;
}

Json added_token(std::size_t id, const std::string& text, bool special) {
  Json token = Json::Object{};
  token.set("id", id);
  token.set("content", text);
  for (const char* off : {"single_word", "lstrip", "rstrip", "normalized"}) token.set(off, false);
  token.set("special", special);
  return token;
}

}  // namespace

Result<Json> tokenizer_keys(std::string_view json, const std::string& name) {
  // Whatever that reader takes has the members that are used below.
  const Vocabulary vocabulary = TRY(read_tokenizer_json(json, name));
  const Json root = TRY(parse_json(json));
  Json::Array tokens(vocabulary.spellings.begin(), vocabulary.spellings.end()),
      types(tokens.size(), Json(kNormal)), merges;
  for (const Json& token : *root.find("added_tokens")->array()) {
    const Json* special = token.find("special");
    const bool control = special == nullptr || special->boolean().value_or(true);
    types[static_cast<std::size_t>(*token.find("id")->natural())] = control ? kControl : kUserDefined;
  }
  for (const auto& [left, right] : vocabulary.merges) merges.push_back(left + " " + right);
  Json keys = Json::Object{};
  keys.set("tokenizer.ggml.model", "gpt2");
  keys.set("tokenizer.ggml.pre", "joyai-llm");
  keys.set("tokenizer.ggml.tokens", std::move(tokens));
  keys.set("tokenizer.ggml.token_type", std::move(types));
  keys.set("tokenizer.ggml.merges", std::move(merges));
  return keys;
}

Result<std::string> tokenizer_json_of(const Json& metadata, const std::string& name) {
  const Json* tokens = metadata.find("tokenizer.ggml.tokens");
  if (tokens == nullptr) return *metadata.find("tokenizer.huggingface.json")->string();
  const Json::Array &spellings = *tokens->array(),
                    &types = *metadata.find("tokenizer.ggml.token_type")->array();
  std::size_t used = spellings.size();
  while (used > 0 && types[used - 1].integer() == kUnused) --used;
  std::unordered_set<std::string_view> seen;
  Json::Object vocab;
  Json::Array added;
  for (std::size_t id = 0; id < used; ++id) {
    const std::string& text = *spellings[id].string();
    if (!seen.insert(text).second) {
      return Error(Fault::unsupported, name + ": tokenizer.ggml.tokens[" + std::to_string(id) +
                                           "]: " + in_quotes(text) +
                                           " is spelled twice, which no tokenizer.json can say");
    }
    const auto type = types[id].integer();
    if (type == kControl || type == kUserDefined) {
      added.push_back(added_token(id, text, type == kControl));
    } else {
      vocab.push_back({text, id});
    }
  }
  Json model = Json::Object{}, root = Json::Object{};
  model.set("type", "BPE");
  for (const char* none : {"dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix"})
    model.set(none, nullptr);
  model.set("fuse_unk", false);
  model.set("byte_fallback", false);
  model.set("vocab", std::move(vocab));
  model.set("merges", *metadata.find("tokenizer.ggml.merges"));
  root.set("version", "1.0");
  root.set("truncation", nullptr);
  root.set("padding", nullptr);
  root.set("added_tokens", std::move(added));
  root.set("normalizer", nullptr);
  root.set("pre_tokenizer", pre_tokenizer());
  root.set("post_processor", byte_level(true, false, true));
  root.set("decoder", byte_level(true, true, true));
  root.set("model", std::move(model));
  return compact_json(root);
}

}  // namespace manyspan::text
