// The second family's keys: config.json's, flat, and its text.
#include <algorithm>
#include <utility>

#include "spec/blueprint_checks.h"
#include "spec/gguf_config.h"

namespace manyspan {
namespace {

constexpr std::string_view kKeys[] = {"vocab_size",
                                      "hidden_size",
                                      "moe_intermediate_size",
                                      "num_hidden_layers",
                                      "num_attention_heads",
                                      "num_key_value_heads",
                                      "head_dim",
                                      "qk_rope_head_dim",
                                      "q_lora_rank",
                                      "o_lora_rank",
                                      "o_groups",
                                      "n_routed_experts",
                                      "n_shared_experts",
                                      "num_experts_per_tok",
                                      "max_position_embeddings",
                                      "sliding_window",
                                      "index_n_heads",
                                      "index_head_dim",
                                      "index_topk",
                                      "hc_mult",
                                      "hc_sinkhorn_iters",
                                      "rope_theta",
                                      "compress_rope_theta",
                                      "candidate_source_layer_id",
                                      "rms_norm_eps",
                                      "candidate_topk_blocks",
                                      "candidate_block_size",
                                      "hc_eps",
                                      "swiglu_limit",
                                      "routed_scaling_factor",
                                      "scoring_func",
                                      "hidden_act",
                                      "topk_method",
                                      "norm_topk_prob",
                                      "kv_source_layer_ids",
                                      "index_source_layer_ids",
                                      "compress_ratios"};
constexpr std::string_view kScaling[] = {"factor", "beta_fast", "beta_slow",
                                         "original_max_position_embeddings"};

// What is known of the file itself, not of the model.
constexpr std::string_view kOfTheFile[] = {"quantization", "calibration", "attention_calibration"};

constexpr std::size_t kLongestConfig = 4 << 20;

// Lists of ratios may end before the draft stages.
bool agrees(std::string_view key, const Json& said, const Json& text) {
  if (key != "compress_ratios" || said.array() == nullptr || text.array() == nullptr)
    return says_same(said, text);
  const Json::Array &a = *said.array(), &b = *text.array();
  return a.size() <= b.size() && std::equal(a.begin(), a.end(), b.begin(), says_same);
}

// The config's text, or an empty object; a fault where it is none.
Json config_text(GgufFields& fields) {
  const Json* text = fields.find("config");
  if (text == nullptr) return Json::Object{};
  if (text->string() == nullptr || text->string()->size() > kLongestConfig) {
    fields.fault("config", "must be the text of a config.json");
    return Json::Object{};
  }
  auto parsed = parse_json(*text->string());
  if (!parsed.ok()) {
    fields.fault("config", parsed.error().message());
    return Json::Object{};
  }
  const Json* nested = parsed.value().find("text_config");
  if (parsed.value().object() == nullptr || (nested != nullptr && nested->object() == nullptr)) {
    fields.fault("config", "must be an object");
    return Json::Object{};
  }
  return std::move(parsed).value();
}

// The family writes this count as a float.
constexpr std::string_view kLength = "original_max_position_embeddings";

Json as_integer(const Json& value) {
  constexpr double kMost = 1 << 30;
  const auto number = value.number();
  if (value.is_integer() || !number || !(*number >= 0 && *number <= kMost)) return value;
  const auto whole = static_cast<std::int64_t>(*number);
  return static_cast<double>(whole) == *number ? Json(whole) : value;
}

void merge(GgufFields& fields, std::string_view key, const std::string& shown_key, Json& into) {
  const Json* said = fields.find(shown_key);
  if (said == nullptr) return;
  const Json* known = into.find(key);
  if (known == nullptr || known->is_null()) {
    into.set(key, key == kLength ? as_integer(*said) : *said);
  } else if (!agrees(key, *said, *known)) {
    fields.fault(shown_key,
                 shown(compact_json(*said)) + ", but deepseek41.config has " + shown(compact_json(*known)));
  }
}

// Engram's numbers in the config's own words, which those of keys must repeat.
void merge_engram(GgufFields& fields, const Json& text, GgufEngram& e) {
  const auto number = [&](const char* key, std::optional<std::int64_t>& said) {
    const Json* known = text.find(key);
    const auto value = known == nullptr ? std::nullopt : known->integer();
    if (!value) return;
    if (said && *said != *value)
      fields.fault("config", std::string(key) + " is " + std::to_string(*value) +
                                 ", but a key of engram says " + std::to_string(*said));
    said = value;
  };
  number("engram_n_heads", e.heads);
  number("engram_head_dim", e.head_dim);
  number("engram_max_ngram_size", e.max_ngram);
  number("engram_vocab_size", e.vocab_size);
  number("engram_compressed_vocab_size", e.token_classes);
  number("engram_pad_token_id", e.pad_token);
  const auto list = [&](const char* key, std::vector<std::int64_t>& said) {
    const Json* known = text.find(key);
    if (known == nullptr || known->array() == nullptr) return;
    if (!said.empty() && !says_same(*known, Json::Array(said.begin(), said.end())))
      fields.fault("config", std::string(key) + " is " + shown(compact_json(*known)) +
                                 ", which the keys of engram do not say");
    said.clear();
    for (const Json& item : *known->array()) said.push_back(item.integer().value_or(0));
  };
  list("engram_layer_ids", e.layers);
  list("engram_num_embeddings", e.table_rows);
}

}  // namespace

Json config_of_repeated_keys(GgufFields& fields, const GgufTensors& tensors, GgufEngram& engram,
                             std::optional<std::int64_t> token_classes) {
  Json config = config_text(fields);
  const Json* nested = config.find("text_config");
  Json text = nested == nullptr ? std::move(config) : *nested;
  for (const std::string_view key : kKeys) merge(fields, key, std::string(key), text);
  Json scaling = text.find("rope_scaling") != nullptr ? *text.find("rope_scaling") : Json();
  if (scaling.is_null() || scaling.object() != nullptr) {
    for (const std::string_view key : kScaling)
      merge(fields, key, "rope_scaling." + std::string(key), scaling);
    if (!scaling.is_null() && scaling.find("type") == nullptr && scaling.find("rope_type") == nullptr)
      scaling.set("type", "yarn");
    if (!scaling.is_null()) text.set("rope_scaling", std::move(scaling));
  }
  for (const std::string_view key : kOfTheFile) fields.find(key);

  const auto integer = [&](const char* key) {
    const Json* value = text.find(key);
    return value == nullptr ? std::nullopt : value->integer();
  };
  const std::int64_t layers =
      std::clamp<std::int64_t>(integer("num_hidden_layers").value_or(1), 1, kMostLayers);
  engram = read_gguf_engram(fields, layers, integer("vocab_size").value_or(0));
  merge_engram(fields, text, engram);
  complete_engram(tensors, layers, fields.find("engram.encoding") != nullptr, token_classes, engram);
  if (nested == nullptr) {
    if (text.find("model_type") == nullptr) text.set("model_type", "deepseek_v41");
    return text;
  }
  config.set("text_config", std::move(text));
  return config;
}

}  // namespace manyspan
