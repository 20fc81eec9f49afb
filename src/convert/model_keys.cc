#include "convert/model_keys.h"

#include <algorithm>
#include <limits>

#include "convert/beside.h"
#include "engine/generation_config.h"
#include "spec/config_text.h"
#include "spec/gguf_blueprint.h"
#include "spec/gguf_keys.h"
#include "text/tokenizer_keys.h"

namespace manyspan {

Result<std::optional<std::string>> generation_config_of(const Checkpoint& c) {
  if (c.container->format() != ContainerFormat::gguf) return text_beside(c, "generation_config.json");
  const Json* text = c.container->metadata().find(kGenerationConfigKey);
  if (text == nullptr) return std::optional<std::string>();
  return std::optional(*text->string());  // opening it has looked at the kind
}

namespace {

constexpr std::int64_t kUnusedToken = 5;

bool is_gguf(const Checkpoint& c) { return c.container->format() == ContainerFormat::gguf; }

std::vector<std::int32_t> token_map_of(const Checkpoint& c) {
  std::vector<std::int32_t> map;
  if (!c.engram_map) return map;
  for (std::int32_t t = 0; t < c.blueprint.vocabulary; ++t) map.push_back(c.engram_map->class_of({t}));
  return map;
}

// The tokenizer's keys, whichever container it comes from; an empty object where there is none.
Result<Json> tokenizer_keys_of(const Checkpoint& c) {
  Json keys = Json::Object{};
  if (!c.tokenizer) return keys;
  if (!is_gguf(c)) {
    keys = TRY(text::tokenizer_keys(TRY(text_beside(c, "tokenizer.json")).value_or(""),
                                    path_beside(c, "tokenizer.json")));
  } else {
    for (const JsonMember& m : *c.container->metadata().object()) {
      if (m.key.starts_with("tokenizer.") && !m.key.ends_with("_token_id")) keys.set(m.key, m.value);
    }
  }
  // Readers count the model's tokens by this list.
  const Json *tokens = keys.find("tokenizer.ggml.tokens"), *types = keys.find("tokenizer.ggml.token_type");
  if (tokens == nullptr || types == nullptr) return keys;
  Json::Array texts = *tokens->array(), kinds = *types->array();
  for (auto id = std::ssize(texts); id < c.blueprint.vocabulary; ++id) {
    texts.emplace_back("[PAD" + std::to_string(id) + "]");
    kinds.emplace_back(kUnusedToken);
  }
  keys.set("tokenizer.ggml.tokens", std::move(texts));
  keys.set("tokenizer.ggml.token_type", std::move(kinds));
  return keys;
}

// What the blueprint says that a copy without the draft and vision models keeps.
Blueprint text_model(Blueprint b) {
  b.draft.reset();
  b.vision.reset();
  b.quantization = {};
  return b;
}

// The first number that the keys do not give as it was.
Result<void> check_said(const Blueprint& was, const Json& keys, const ConvertPlan& plan) {
  std::vector<GgufTensor> tensors;
  for (const PlannedTensor& t : plan.tensors) tensors.push_back({t.outline.name, t.outline.shape});
  std::sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  const GgufModel model = TRY(read_gguf_blueprint(keys, tensors));
  const Json before = config_of(text_model(was)), after = config_of(text_model(model.blueprint));
  if (compact_json(before) == compact_json(after)) return {};
  for (const Json* object : {&before, before.find("text_config")}) {
    const Json& other = object == &before ? after : *after.find("text_config");
    for (const JsonMember& m : *object->object()) {
      const Json* said = other.find(m.key);
      if (m.value.object() != nullptr || (said != nullptr && compact_json(*said) == compact_json(m.value)))
        continue;
      return Error(Fault::unsupported, "config.json's " + m.key + " is " + compact_json(m.value) +
                                           ", and a GGUF's keys would say " +
                                           (said == nullptr ? "nothing" : compact_json(*said)));
    }
  }
  return Error(Fault::unsupported, "a GGUF's keys do not say what config.json says");
}

std::vector<float> floats_of(const Json::Array& items) {
  std::vector<float> numbers;
  for (const Json& item : items) numbers.push_back(static_cast<float>(item.number().value_or(0)));
  return numbers;
}

template <class Number>
std::vector<Number> integers_of(const Json::Array& items) {
  std::vector<Number> numbers;
  for (const Json& item : items) numbers.push_back(static_cast<Number>(item.integer().value_or(0)));
  return numbers;
}

void add_list(GgufKeys& keys, const std::string& key, const Json::Array& items) {
  const auto all = [&](auto holds) { return std::all_of(items.begin(), items.end(), holds); };
  if (!items.empty() && all([](const Json& j) { return j.string() != nullptr; })) {
    std::vector<std::string> texts;
    for (const Json& item : items) texts.push_back(*item.string());
    return keys.add(key, texts);
  }
  if (!all([](const Json& j) { return j.is_integer(); })) return keys.add(key, floats_of(items));
  const bool wide = key.ends_with("multipliers") || key.ends_with("primes") || key.ends_with("offsets");
  wide ? keys.add(key, integers_of<std::uint64_t>(items)) : keys.add(key, integers_of<std::int32_t>(items));
}

// By the widths that the first family's readers expect: U32, F32, lists of I32, hash constants of U64.
void add_value(GgufKeys& keys, const std::string& key, const Json& value) {
  if (value.string() != nullptr) return keys.add(key, *value.string());
  if (value.boolean()) return keys.add(key, *value.boolean());
  if (value.array() != nullptr) return add_list(keys, key, *value.array());
  if (!value.is_integer()) return keys.add(key, static_cast<float>(value.number().value_or(0)));
  const std::int64_t number = value.integer().value_or(0);
  if (number < 0) return keys.add(key, static_cast<std::int32_t>(number));
  if (number > std::numeric_limits<std::uint32_t>::max())
    return keys.add(key, static_cast<std::uint64_t>(number));
  keys.add(key, static_cast<std::uint32_t>(number));
}

// Whether the text is put between these tokens, as the folder's tokenizer_config.json says it.
Result<void> add_ends(const Checkpoint& c, Json& keys) {
  Json config = Json::Object{};
  if (const auto text = TRY(text_beside(c, "tokenizer_config.json"))) {
    auto read = parse_json(*text);
    if (!read.ok()) return std::move(read).error().within(path_beside(c, "tokenizer_config.json"));
    config = std::move(read).value();
  }
  for (const char* key : {"add_bos_token", "add_eos_token"}) {
    const Json* said = config.find(key);
    keys.set(std::string("tokenizer.ggml.") + key, said != nullptr && said->boolean().value_or(false));
  }
  const Json* chat = config.find("chat_template");
  if (chat != nullptr && chat->string() != nullptr) keys.set("tokenizer.chat_template", *chat);
  return {};
}

}  // namespace

Result<GgufKeys> gguf_keys_of(const Checkpoint& c, const ConvertPlan& plan) {
  const Blueprint& b = c.blueprint;
  Json keys = gguf_keys(b, token_map_of(c));
  keys.set("general.quantization_version", 2);
  if (const auto defaults = TRY(generation_config_of(c))) keys.set(kGenerationConfigKey, *defaults);
  const Json tokenizer = TRY(tokenizer_keys_of(c));
  for (const JsonMember& m : *tokenizer.object()) keys.set(m.key, m.value);
  keys.set("tokenizer.ggml.bos_token_id", b.bos_token);
  keys.set("tokenizer.ggml.eos_token_id", b.eos_token);
  keys.set("tokenizer.ggml.padding_token_id", b.pad_token);
  if (!is_gguf(c) && c.tokenizer) TRY(add_ends(c, keys));
  TRY(check_said(b, keys, plan));
  GgufKeys encoded;
  for (const JsonMember& m : *keys.object()) add_value(encoded, m.key, m.value);
  return encoded;
}

}  // namespace manyspan
