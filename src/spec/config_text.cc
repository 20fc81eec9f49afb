#include "spec/config_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <utility>

namespace manyspan {
namespace {

// 1e-20 and not 9.999999682655225e-21, which is what the float is.
Json shortest(float number) {
  std::array<char, 32> digits{};
  std::to_chars(digits.data(), digits.data() + digits.size() - 1, number);
  return std::strtod(digits.data(), nullptr);
}

// Whole numbers without a point, as the official file writes them.
Json whole(float number) {
  const auto integer = static_cast<std::int64_t>(number);
  return static_cast<float>(integer) == number ? Json(integer) : shortest(number);
}

Json rope_of(const Yarn& yarn) {
  Json scaling = Json::Object{};
  scaling.set("rope_type", "yarn");
  scaling.set("factor", whole(yarn.factor));
  scaling.set("beta_fast", whole(yarn.beta_fast));
  scaling.set("beta_slow", whole(yarn.beta_slow));
  scaling.set("original_max_position_embeddings", yarn.original_length);
  return scaling;
}

struct Text {
  const Blueprint& b;
  Json text = Json::Object{};

  void set(const char* key, Json value) { text.set(key, std::move(value)); }

  void widths() {
    set("model_type", "deepseek_v41_text");
    set("vocab_size", b.vocabulary);
    set("hidden_size", b.hidden);
    set("moe_intermediate_size", b.expert_inner);
    set("num_hidden_layers", b.layers);
    set("num_nextn_predict_layers", b.draft ? b.draft->stages : 0);
    set("num_attention_heads", b.heads);
    set("num_key_value_heads", 1);
    set("head_dim", b.head_dim);
    set("qk_rope_head_dim", b.rope_dim);
    set("q_lora_rank", b.q_rank);
    set("o_lora_rank", b.o_rank);
    set("o_groups", b.o_groups);
    set("hidden_act", "silu");
    set("attention_bias", false);
    set("tie_word_embeddings", false);
    set("swiglu_limit", shortest(b.swiglu_limit));
    set("rms_norm_eps", shortest(b.norm_eps));
    set("max_position_embeddings", b.context);
    set("rope_theta", whole(b.rope_theta));
    if (b.yarn.original_length > 0) set("rope_scaling", rope_of(b.yarn));
    set("compress_rope_theta", whole(b.compress_rope_theta));
  }

  void experts() {
    set("n_routed_experts", b.experts);
    set("num_experts_per_tok", b.experts_per_token);
    set("n_shared_experts", 1);
    set("scoring_func", "sqrtsoftplus");
    set("topk_method", "noaux_tc");
    set("norm_topk_prob", b.normalise_routes);
    set("routed_scaling_factor", shortest(b.route_scale));
    if (b.gate_temperature != 1) set("gate_temp", shortest(b.gate_temperature));
  }

  void attention() {
    std::vector<std::int32_t> ratios = b.compress_ratios;
    ratios.resize(ratios.size() + static_cast<std::size_t>(b.draft ? b.draft->stages : 0));
    set("sliding_window", b.window);
    set("compress_ratios", json_list(ratios));
    set("kv_source_layer_ids", json_list(b.kv_sources));
    set("index_source_layer_ids", json_list(b.index_sources));
    set("index_n_heads", b.index_heads);
    set("index_head_dim", b.index_dim);
    set("index_topk", b.index_rows);
    set("candidate_source_layer_id", b.candidate_source);
    if (b.candidate_source >= 0) {
      set("candidate_topk_blocks", b.candidate_blocks);
      set("candidate_block_size", b.candidate_block_rows);
    }
    set("hc_mult", b.streams);
    set("hc_sinkhorn_iters", b.sinkhorn_iterations);
    set("hc_eps", shortest(b.mix_eps));
  }

  void engram() {
    const EngramNumbers& e = b.engram;
    set("engram_layer_ids", json_list(e.layers));
    set("engram_num_embeddings", json_list(e.table_rows));
    set("engram_max_ngram_size", e.max_ngram);
    set("engram_vocab_size", e.vocab_size);
    set("engram_n_heads", e.heads);
    set("engram_head_dim", e.head_dim);
    set("engram_pad_token_id", e.pad_token);
    set("engram_compressed_vocab_size", e.token_classes);
  }

  void draft() {
    if (!b.draft) return;
    set("dspark_block_size", b.draft->block);
    set("dspark_noise_token_id", b.draft->noise_token);
    set("dspark_target_layer_ids", json_list(b.draft->target_layers));
    set("dspark_markov_rank", b.draft->markov_rank);
    set("dspark_n_routed_experts", b.draft->experts);
    set("dspark_num_experts_per_tok", b.draft->experts_per_token);
  }
};

Json vision_of(const VisionNumbers& v) {
  Json json = Json::Object{};
  json.set("model_type", "deepseek_v41_vision");
  json.set("num_hidden_layers", v.layers);
  json.set("hidden_size", v.hidden);
  json.set("num_attention_heads", v.heads);
  json.set("intermediate_size", v.inner);
  json.set("patch_size", v.patch);
  json.set("rope_theta", whole(v.rope_theta));
  json.set("downsample_ratio", v.downsample);
  json.set("max_image_tokens", v.max_image_tokens);
  json.set("min_pixels", v.min_pixels);
  json.set("max_wh_ratio", v.max_aspect ? shortest(*v.max_aspect) : Json());
  return json;
}

// As a copy's tensors are stored: the types that they have say the rest.
Json quantization_of(const Quantization& q) {
  using Dtype = Quantization::ExpertDtype;
  Json json = Json::Object{};
  const bool own = q.method == "fp8" || q.method == "mxfp8" || q.method == "modelopt";
  json.set("quant_method", own ? q.method : std::string("fp8"));
  json.set("activation_scheme", "dynamic");
  if (own && (q.block_said || q.method == "fp8"))
    json.set("weight_block_size", Json::Array{q.block_rows, q.block_cols});
  if (!own) json.set("weight_block_size", Json::Array{32, 32});
  if (!own || q.scales_ue8m0) json.set("scale_fmt", "ue8m0");
  if (q.expert_dtype != Dtype::unsaid) {
    json.set("expert_dtype", q.expert_dtype == Dtype::fp4   ? "fp4"
                             : q.expert_dtype == Dtype::fp8 ? "fp8"
                                                            : "bf16");
  }
  return json;
}

void indent(const Json& value, int depth, std::string& out) {
  const Json::Object* object = value.object();
  if (object == nullptr || object->empty()) {
    out += compact_json(value);
    return;
  }
  const std::string space(static_cast<std::size_t>(depth + 1) * 2, ' ');
  out += "{\n";
  for (const JsonMember& member : *object) {
    out += space + json_quoted(member.key) + ": ";
    indent(member.value, depth + 1, out);
    out += &member == &object->back() ? "\n" : ",\n";
  }
  out += std::string(static_cast<std::size_t>(depth) * 2, ' ') + "}";
}

}  // namespace

Json config_of(const Blueprint& b) {
  Json config = Json::Object{};
  config.set("architectures", Json::Array{"DeepseekV41ForCausalLM"});
  config.set("model_type", "deepseek_v41");
  config.set("dtype", "bfloat16");
  config.set("bos_token_id", b.bos_token);
  config.set("eos_token_id", b.eos_token);
  config.set("pad_token_id", b.pad_token);
  config.set("image_token_id", b.vision ? b.vision->image_token : -1);
  config.set("quantization_config", quantization_of(b.quantization));
  Text text{b};
  text.widths();
  text.experts();
  text.attention();
  text.engram();
  text.draft();
  config.set("text_config", std::move(text.text));
  if (b.vision) config.set("vision_config", vision_of(*b.vision));
  return config;
}

std::string config_text(const Blueprint& blueprint) { return indented_json(config_of(blueprint)); }

std::string indented_json(const Json& value) {
  std::string out;
  indent(value, 0, out);
  return out + "\n";
}

}  // namespace manyspan
