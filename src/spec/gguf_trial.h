// gguf_trial — for tests: the keys that a GGUF of either family has, from the blueprint or config that they must give.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "spec/blueprint.h"
#include "spec/gguf_keys.h"

namespace manyspan {

// The first family's, without those that say which layers own what: the tensors do.
inline Json own_keys(const Blueprint& b, const std::vector<std::int32_t>& token_map = {}) {
  Json keys = Json::Object{};
  const Json all = gguf_keys(b, token_map);
  for (const JsonMember& m : *all.object()) {
    if (m.key.find("_source_layer_ids") == std::string::npos) keys.set(m.key, m.value);
  }
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
  add_gguf_engram_keys(b, token_map, keys);
  return keys;
}

}  // namespace manyspan
