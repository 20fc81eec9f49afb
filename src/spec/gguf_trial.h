// gguf_trial — for tests: the keys that a GGUF of either family has, from the blueprint or config that they must give.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "spec/blueprint.h"
#include "spec/engram_map.h"

namespace manyspan {

template <class Number>
Json json_list(const std::vector<Number>& numbers) {
  return Json::Array(numbers.begin(), numbers.end());
}

// Hash constants and numbers, by the names that both families have, and the token map where there is one.
inline void add_engram_keys(const Blueprint& b, const std::vector<std::int32_t>& token_map, Json& keys) {
  const EngramNumbers& e = b.engram;
  const auto set = [&](const char* key, Json value) {
    keys.set(std::string("deepseek41.engram.") + key, std::move(value));
  };
  std::vector<std::int64_t> primes, offsets, multipliers;
  for (const auto& layer : engram_primes(e.layers.size(), e.max_ngram, e.heads, e.vocab_size)) {
    std::int64_t sum = 0;
    for (const std::int64_t prime : layer) {
      primes.push_back(prime);
      offsets.push_back(sum);
      sum += prime;
    }
  }
  for (const std::int32_t layer : e.layers) {
    for (const std::int64_t m : engram_multipliers(layer, e.max_ngram, e.token_classes))
      multipliers.push_back(m);
  }
  set("layer_ids", json_list(e.layers));
  set("primes", json_list(primes));
  set("offsets", json_list(offsets));
  set("multipliers", json_list(multipliers));
  if (token_map.empty()) return;
  set("token_map", json_list(token_map));
  set("pad_id", token_map[static_cast<std::size_t>(e.pad_token)]);
}

// The first family's.
inline Json own_keys(const Blueprint& b, const std::vector<std::int32_t>& token_map = {}) {
  Json keys = Json::Object{};
  const auto set = [&](const char* key, Json value) {
    keys.set(std::string("deepseek41.") + key, std::move(value));
  };
  keys.set("general.architecture", "deepseek41");
  set("block_count", b.layers);
  set("context_length", b.context);
  set("embedding_length", b.hidden);
  set("vocab_size", b.vocabulary);
  set("attention.head_count", b.heads);
  set("attention.head_count_kv", 1);
  set("attention.key_length", b.head_dim);
  set("attention.value_length", b.head_dim);
  set("rope.dimension_count", b.rope_dim);
  set("rope.freq_base", double{b.rope_theta});
  set("rope.scaling.type", "yarn");
  set("rope.scaling.factor", double{b.yarn.factor});
  set("rope.scaling.original_context_length", b.yarn.original_length);
  set("rope.scaling.yarn_beta_fast", double{b.yarn.beta_fast});
  set("rope.scaling.yarn_beta_slow", double{b.yarn.beta_slow});
  set("attention.layer_norm_rms_epsilon", double{b.norm_eps});
  set("attention.q_lora_rank", b.q_rank);
  set("attention.sliding_window", b.window);
  set("attention.output_group_count", b.o_groups);
  set("attention.output_lora_rank", b.o_rank);
  set("attention.compress_ratios", json_list(b.compress_ratios));
  set("attention.compress_rope_freq_base", double{b.compress_rope_theta});
  set("attention.indexer.head_count", b.index_heads);
  set("attention.indexer.key_length", b.index_dim);
  set("attention.indexer.top_k", b.index_rows);
  set("attention.candidate_source_layer_id", b.candidate_source);
  set("attention.candidate_topk_blocks", b.candidate_blocks);
  set("attention.candidate_block_size", b.candidate_block_rows);
  set("expert_count", b.experts);
  set("expert_used_count", b.experts_per_token);
  set("expert_shared_count", 1);
  set("expert_feed_forward_length", b.expert_inner);
  set("expert_weights_scale", double{b.route_scale});
  set("expert_weights_norm", b.normalise_routes);
  set("expert_gating_func", 4);
  set("swiglu_clamp_exp", Json::Array(static_cast<std::size_t>(b.layers), Json(double{b.swiglu_limit})));
  set("swiglu_clamp_shexp", Json::Array(1, Json(double{b.swiglu_limit})));
  set("hyper_connection.count", b.streams);
  set("hyper_connection.sinkhorn_iterations", b.sinkhorn_iterations);
  set("hyper_connection.epsilon", double{b.mix_eps});
  set("hash_layer_count", 0);
  set("engram.head_count", b.engram.heads);
  set("engram.key_length", b.engram.head_dim);
  set("engram.max_ngram_size", b.engram.max_ngram);
  set("engram.vocab_size", b.engram.vocab_size);
  set("engram.compressed_vocab_size", b.engram.token_classes);
  add_engram_keys(b, token_map, keys);
  return keys;
}

// The second's: config.json's keys, and `config`, its text, where that is not empty.
inline Json repeated_keys(const Blueprint& b, const std::string& config,
                          const std::vector<std::int32_t>& token_map = {}) {
  Json keys = Json::Object{};
  const auto set = [&](const char* key, Json value) {
    keys.set(std::string("deepseek41.") + key, std::move(value));
  };
  keys.set("general.architecture", "deepseek41");
  keys.set("general.alignment", 16384);
  set("vocab_size", b.vocabulary);
  set("hidden_size", b.hidden);
  set("moe_intermediate_size", b.expert_inner);
  set("num_hidden_layers", b.layers);
  set("num_attention_heads", b.heads);
  set("num_key_value_heads", 1);
  set("head_dim", b.head_dim);
  set("qk_rope_head_dim", b.rope_dim);
  set("q_lora_rank", b.q_rank);
  set("o_lora_rank", b.o_rank);
  set("o_groups", b.o_groups);
  set("n_routed_experts", b.experts);
  set("n_shared_experts", 1);
  set("num_experts_per_tok", b.experts_per_token);
  set("max_position_embeddings", b.context);
  set("sliding_window", b.window);
  set("index_n_heads", b.index_heads);
  set("index_head_dim", b.index_dim);
  set("index_topk", b.index_rows);
  set("candidate_source_layer_id", b.candidate_source);
  set("candidate_topk_blocks", b.candidate_blocks);
  set("candidate_block_size", b.candidate_block_rows);
  set("hc_mult", b.streams);
  set("hc_sinkhorn_iters", b.sinkhorn_iterations);
  set("rope_theta", static_cast<std::int64_t>(b.rope_theta));
  set("compress_rope_theta", static_cast<std::int64_t>(b.compress_rope_theta));
  set("rms_norm_eps", double{b.norm_eps});
  set("hc_eps", double{b.mix_eps});
  set("swiglu_limit", double{b.swiglu_limit});
  set("routed_scaling_factor", double{b.route_scale});
  set("scoring_func", "sqrtsoftplus");
  set("hidden_act", "silu");
  set("topk_method", "noaux_tc");
  set("norm_topk_prob", b.normalise_routes);
  set("compress_ratios", json_list(b.compress_ratios));
  set("kv_source_layer_ids", json_list(b.kv_sources));
  set("index_source_layer_ids", json_list(b.index_sources));
  set("rope_scaling.factor", double{b.yarn.factor});
  set("rope_scaling.beta_fast", double{b.yarn.beta_fast});
  set("rope_scaling.beta_slow", double{b.yarn.beta_slow});
  set("rope_scaling.original_max_position_embeddings", static_cast<double>(b.yarn.original_length));
  if (!config.empty()) set("config", config);
  set("engram.compressed_vocab_size", b.engram.token_classes);
  set("engram.rows", json_list(b.engram.table_rows));
  add_engram_keys(b, token_map, keys);
  return keys;
}

}  // namespace manyspan
