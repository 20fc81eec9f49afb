#include "spec/gguf_keys.h"

#include <string>
#include <utility>

#include "spec/engram_map.h"

namespace manyspan {
namespace {

struct Keys {
  const Blueprint& b;
  Json& keys;

  void set(const char* key, Json value) { keys.set(std::string("deepseek41.") + key, std::move(value)); }

  void widths() {
    set("block_count", b.layers);
    set("context_length", b.context);
    set("embedding_length", b.hidden);
    set("vocab_size", b.vocabulary);
    set("hyper_connection.count", b.streams);
    set("hyper_connection.sinkhorn_iterations", b.sinkhorn_iterations);
    set("hyper_connection.epsilon", double{b.mix_eps});
    set("hash_layer_count", 0);
  }

  void attention() {
    set("attention.head_count", b.heads);
    set("attention.head_count_kv", 1);
    set("attention.key_length", b.head_dim);
    set("attention.value_length", b.head_dim);
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
    set("attention.kv_source_layer_ids", json_list(b.kv_sources));
    set("attention.index_source_layer_ids", json_list(b.index_sources));
    set("attention.candidate_source_layer_id", b.candidate_source);
    if (b.candidate_source < 0) return;
    set("attention.candidate_topk_blocks", b.candidate_blocks);
    set("attention.candidate_block_size", b.candidate_block_rows);
  }

  void rope() {
    set("rope.dimension_count", b.rope_dim);
    set("rope.freq_base", double{b.rope_theta});
    const bool scaled = b.yarn.original_length > 0;
    set("rope.scaling.type", scaled ? "yarn" : "none");
    if (!scaled) return;
    set("rope.scaling.factor", double{b.yarn.factor});
    set("rope.scaling.original_context_length", b.yarn.original_length);
    set("rope.scaling.yarn_beta_fast", double{b.yarn.beta_fast});
    set("rope.scaling.yarn_beta_slow", double{b.yarn.beta_slow});
  }

  void experts() {
    set("expert_count", b.experts);
    set("expert_used_count", b.experts_per_token);
    set("expert_shared_count", 1);
    set("expert_feed_forward_length", b.expert_inner);
    set("expert_weights_scale", double{b.route_scale});
    set("expert_weights_norm", b.normalise_routes);
    set("expert_gating_func", 4);  // the root of softplus
    const Json limits = Json::Array(static_cast<std::size_t>(b.layers), Json(double{b.swiglu_limit}));
    set("swiglu_clamp_exp", limits);
    set("swiglu_clamp_shexp", limits);
  }

  void engram(const std::vector<std::int32_t>& token_map) {
    if (b.engram.layers.empty()) return;
    set("engram.head_count", b.engram.heads);
    set("engram.key_length", b.engram.head_dim);
    set("engram.max_ngram_size", b.engram.max_ngram);
    set("engram.vocab_size", b.engram.vocab_size);
    set("engram.compressed_vocab_size", b.engram.token_classes);
    set("engram.rows", json_list(b.engram.table_rows));
    add_gguf_engram_keys(b, token_map, keys);
  }
};

}  // namespace

void add_gguf_engram_keys(const Blueprint& b, const std::vector<std::int32_t>& token_map, Json& keys) {
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

Json gguf_keys(const Blueprint& b, const std::vector<std::int32_t>& token_map) {
  Json keys = Json::Object{};
  keys.set("general.architecture", "deepseek41");
  Keys all{b, keys};
  all.widths();
  all.attention();
  all.rope();
  all.experts();
  all.engram(token_map);
  return keys;
}

}  // namespace manyspan
