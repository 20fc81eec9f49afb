// The first family's keys: as llama.cpp and its forks write them.
#include <algorithm>
#include <utility>

#include "spec/blueprint_checks.h"
#include "spec/gguf_config.h"

namespace manyspan {
namespace {

// Keys that only need another name.
constexpr Spelling kRenamed[] = {
    {"hidden_size", "embedding_length"},
    {"max_position_embeddings", "context_length"},
    {"num_attention_heads", "attention.head_count"},
    {"num_key_value_heads", "attention.head_count_kv"},
    {"head_dim", "attention.key_length"},
    {"qk_rope_head_dim", "rope.dimension_count"},
    {"q_lora_rank", "attention.q_lora_rank"},
    {"o_groups", "attention.output_group_count"},
    {"o_lora_rank", "attention.output_lora_rank"},
    {"sliding_window", "attention.sliding_window"},
    {"rms_norm_eps", "attention.layer_norm_rms_epsilon"},
    {"rope_theta", "rope.freq_base"},
    {"compress_rope_theta", "attention.compress_rope_freq_base"},
    {"index_n_heads", "attention.indexer.head_count"},
    {"index_head_dim", "attention.indexer.key_length"},
    {"index_topk", "attention.indexer.top_k"},
    {"n_routed_experts", "expert_count"},
    {"num_experts_per_tok", "expert_used_count"},
    {"moe_intermediate_size", "expert_feed_forward_length"},
    {"routed_scaling_factor", "expert_weights_scale"},
    {"hc_mult", "hyper_connection.count"},
    {"hc_sinkhorn_iters", "hyper_connection.sinkhorn_iterations"},
    {"hc_eps", "hyper_connection.epsilon"},
};

// May be absent: the config's reader then has a value.
constexpr Spelling kOptional[] = {
    {"n_shared_experts", "expert_shared_count"},
    {"norm_topk_prob", "expert_weights_norm"},
};

constexpr Between<std::int64_t> kLayer{0, kMostLayers - 1};
constexpr std::size_t kMostEntries = 2 * kMostLayers;

std::string text_of(const std::vector<std::int64_t>& numbers) {
  return shown(compact_json(json_list(numbers)));
}

struct Converter {
  GgufFields& fields;
  const GgufTensors& tensors;
  Json config = Json::Object{};
  std::int64_t layers = 0;  // the trunk's

  void renamed() {
    for (const Spelling& s : kRenamed) {
      if (const Json* value = fields.find(s.other)) {
        config.set(s.official, *value);
      } else {
        fields.fault(s.other, "missing");
      }
    }
    for (const Spelling& s : kOptional) {
      if (const Json* value = fields.find(s.other)) config.set(s.official, *value);
    }
    const Json* value_length = fields.find("attention.value_length");
    const Json* key_length = fields.find("attention.key_length");
    if (value_length != nullptr && key_length != nullptr && !says_same(*value_length, *key_length))
      fields.fault("attention.value_length", "differs from attention.key_length");
    if (fields.integer({"hash_layer_count"}, {0, kMostLayers}).value_or(0) != 0)
      fields.fault("hash_layer_count", "only 0 is supported: DeepSeek-V4.1 has no hash layers");
    const auto gating = fields.integer({"expert_gating_func"}, {0, 255});
    if (gating && *gating != 4) {
      fields.fault("expert_gating_func",
                   std::to_string(*gating) + " is not supported, only 4, the root of softplus");
    }
    config.set("scoring_func", "sqrtsoftplus");
  }

  // Blocks at the end that are not the trunk's: the draft model's have fewer experts.
  void blocks() {
    const auto blocks = fields.integer({"block_count"}, {1, kMostLayers});
    const std::int64_t count = blocks.value_or(1);
    const auto experts = fields.integer({"expert_count"}, {1, 1 << 16});
    std::int64_t draft = 0;
    while (draft < count) {
      const GgufTensor* router = tensors.in_block(count - 1 - draft, "ffn_gate_inp.weight");
      if (router == nullptr || !experts || rows_of(*router) == *experts) break;
      ++draft;
    }
    const auto said = fields.integer({"nextn_predict_layers"}, {0, 64});
    const bool marked =
        said && *said > 0 && *said < count &&
        (tensors.find("fc.weight") != nullptr || tensors.in_block(count - *said, "fc.weight") != nullptr);
    if (draft == 0 && marked) draft = *said;
    if (draft == count) draft = 0;  // every router is wrong: that is for the weights to say
    if (draft > 0 && said && *said != draft) {
      fields.fault("nextn_predict_layers", std::to_string(*said) + ", but " + std::to_string(draft) +
                                               " blocks at the end have another number of experts");
    }
    layers = count - draft;
    config.set("num_hidden_layers", layers);
  }

  void vocabulary() {
    const Json* tokens = fields.outside("tokenizer.ggml.tokens");
    const GgufTensor* embedding = tensors.find("token_embd.weight");
    if (const Json* said = fields.find("vocab_size")) {
      config.set("vocab_size", *said);
    } else if (tokens != nullptr && tokens->array() != nullptr) {
      config.set("vocab_size", tokens->array()->size());
    } else if (embedding != nullptr) {
      config.set("vocab_size", rows_of(*embedding));
    } else {
      fields.fault("vocab_size", "missing, and there are no tokens to count");
    }
  }

  // One limit for all layers: the model has no other.
  void swiglu() {
    const Json* limit = nullptr;
    for (const std::string_view key : {"swiglu_clamp_exp", "swiglu_clamp_shexp"}) {
      const Json* said = fields.find(key);
      if (said == nullptr) continue;
      const Json::Array alone = {*said};
      for (const Json& entry : said->array() != nullptr ? *said->array() : alone) {
        if (limit == nullptr) config.set("swiglu_limit", entry);
        if (limit != nullptr && !says_same(*limit, entry))
          return fields.fault(key, "layers with different limits are not supported");
        limit = config.find("swiglu_limit");
      }
    }
    if (limit == nullptr) fields.fault("swiglu_clamp_exp", "missing");
  }

  void rope() {
    constexpr Spelling kScaling[] = {
        {"factor", "rope.scaling.factor"},
        {"original_max_position_embeddings", "rope.scaling.original_context_length"},
        {"beta_fast", "rope.scaling.yarn_beta_fast"},
        {"beta_slow", "rope.scaling.yarn_beta_slow"}};
    Json scaling = Json::Object{};
    for (const Spelling& s : kScaling) {
      if (const Json* value = fields.find(s.other)) scaling.set(s.official, *value);
    }
    const Json* type = fields.find("rope.scaling.type");
    if (type == nullptr && scaling.object()->empty()) return;
    if (type != nullptr && type->string() != nullptr && *type->string() == "none") return;
    scaling.set("type", type != nullptr ? *type : Json("yarn"));
    config.set("rope_scaling", std::move(scaling));
  }

  // What the keys say, which must be what the tensors say where both do.
  void sources(const char* official, GgufFields::Spellings spellings, std::string_view tensor) {
    const auto said = fields.integers(spellings, kMostEntries, kLayer);
    const std::vector<std::int64_t> found = tensors.blocks_with(tensor, layers);
    if (said && !tensors.empty() && *said != found) {
      fields.fault(*spellings.begin(), text_of(*said) + ", but the layers with " + std::string(tensor) +
                                           " are " + text_of(found));
    }
    config.set(official, json_list(said.value_or(found)));
  }

  void attention() {
    sources("kv_source_layer_ids", {"attention.kv_source_layer_ids", "attention.kv_source_layers"},
            "attn_compressor_kv.weight");
    sources("index_source_layer_ids",
            {"attention.index_source_layer_ids", "attention.index_source_layers",
             "attention.indexer.source_layers"},
            "indexer.attn_q_b.weight");
    auto ratios = fields.integers({"attention.compress_ratios"}, kMostEntries, {0, kMostRatio});
    if (!ratios) {
      if (fields.find("attention.compress_ratios") == nullptr)
        fields.fault("attention.compress_ratios", "missing");
      return;
    }
    if (std::ssize(*ratios) < layers) {
      return fields.fault("attention.compress_ratios", std::to_string(ratios->size()) + " entries for " +
                                                           std::to_string(layers) + " layers");
    }
    for (std::size_t i = static_cast<std::size_t>(layers); i < ratios->size(); ++i) {
      if ((*ratios)[i] != 0) {
        fields.fault("attention.compress_ratios", "entry " + std::to_string(i) + " is " +
                                                      std::to_string((*ratios)[i]) +
                                                      ", must be 0: it is a draft stage");
      }
    }
    ratios->resize(static_cast<std::size_t>(layers + draft_stages()));
    config.set("compress_ratios", json_list(*ratios));
    for (const std::int64_t l : tensors.blocks_with("attn_compressor_kv.weight", layers)) {
      const bool gate = tensors.in_block(l, "attn_compressor_gate.weight") != nullptr;
      if (!gate && (*ratios)[static_cast<std::size_t>(l)] != 1) {
        fields.fault("attention.compress_ratios",
                     "layer " + std::to_string(l) + " has " +
                         std::to_string((*ratios)[static_cast<std::size_t>(l)]) +
                         ", but no attn_compressor_gate.weight, which only ratio 1 does without");
      }
    }
    candidates(*ratios);
  }

  // As released where no key says it: the first index source of ratio 1 filters for those after it.
  void candidates(const std::vector<std::int64_t>& ratios) {
    const Json* source =
        fields.find({"attention.candidate_source_layer_id", "attention.candidate_source_layer"});
    const Json* blocks = fields.find({"attention.candidate_topk_blocks", "attention.candidate_top_k_blocks",
                                      "attention.candidate_top_blocks"});
    const Json* rows = fields.find("attention.candidate_block_size");
    std::int64_t derived = -1;
    for (const Json& layer : *config.find("index_source_layer_ids")->array()) {
      const std::int64_t l = layer.integer().value_or(-1);
      if (derived < 0 && l >= 0 && l < layers && ratios[static_cast<std::size_t>(l)] == 1) derived = l;
    }
    config.set("candidate_source_layer_id", source != nullptr ? *source : Json(derived));
    config.set("candidate_topk_blocks", blocks != nullptr ? *blocks : Json(2048));
    config.set("candidate_block_size", rows != nullptr ? *rows : Json(8));
  }

  std::int64_t draft_stages() { return config.find("num_nextn_predict_layers") ? stages : 0; }
  std::int64_t stages = 0;

  // All of the draft model's numbers or none: it has a file of its own otherwise.
  void draft() {
    const std::pair<const char*, const Json*> numbers[] = {
        {"num_nextn_predict_layers", fields.find("dspark.stage_count")},
        {"dspark_block_size", fields.find("dspark.block_size")},
        {"dspark_noise_token_id", fields.find("dspark.noise_token_id")},
        {"dspark_target_layer_ids", fields.find("dspark.target_layer_ids")},
        {"dspark_markov_rank", fields.find("dspark.markov_rank")},
        {"dspark_n_routed_experts", fields.find({"dspark.n_routed_experts", "dspark.expert_count"})},
        {"dspark_num_experts_per_tok",
         fields.find({"dspark.num_experts_per_tok", "dspark.expert_used_count"})}};
    for (const auto& [key, value] : numbers) {
      if (value == nullptr) return;
    }
    for (const auto& [key, value] : numbers) config.set(key, *value);
    stages = std::clamp<std::int64_t>(numbers[0].second->integer().value_or(0), 0, 64);
  }
};

}  // namespace

Json config_of_own_keys(GgufFields& fields, const GgufTensors& tensors, GgufEngram& engram,
                        std::optional<std::int64_t> token_classes) {
  Converter c{fields, tensors};
  c.renamed();
  c.blocks();
  c.vocabulary();
  c.swiglu();
  c.rope();
  c.draft();
  c.attention();
  const Json* vocabulary = c.config.find("vocab_size");
  engram = read_gguf_engram(fields, c.layers, vocabulary ? vocabulary->integer().value_or(0) : 0);
  complete_engram(tensors, c.layers, fields.find("engram.encoding") != nullptr, token_classes, engram);
  c.config.set("model_type", "deepseek_v41");
  return std::move(c.config);
}

}  // namespace manyspan
