#include "spec/blueprint.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "spec/blueprint_reader.h"
#include "spec/config_fields.h"

namespace manyspan {
namespace {

constexpr Spelling kFlatSpellings[] = {
    {"hidden_size", "dim"},
    {"num_hidden_layers", "n_layers"},
    {"num_nextn_predict_layers", "n_mtp_layers"},
    {"num_attention_heads", "n_heads"},
    {"qk_rope_head_dim", "rope_head_dim"},
    {"sliding_window", "window_size"},
    {"rms_norm_eps", "norm_eps"},
    {"num_experts_per_tok", "n_activated_experts"},
    {"moe_intermediate_size", "moe_inter_dim"},
    {"routed_scaling_factor", "route_scale"},
    {"scoring_func", "score_func"},
    {"kv_source_layer_ids", "kv_source_layers"},
    {"index_source_layer_ids", "index_source_layers"},
    {"candidate_source_layer_id", "candidate_source_layer"},
    {"engram_pad_token_id", "engram_pad_id"},
    {"dspark_num_experts_per_tok", "dspark_n_activated_experts"},
    {"factor", "rope_factor"},
    {"original_max_position_embeddings", "original_seq_len"},
};

Error not_ours(const std::string& what) {
  return Error(Fault::unsupported, what + "; this program runs DeepSeek-V4.1 (model_type \"deepseek_v41\")");
}

// Refuses other models by the name they give themselves.
Result<void> check_family(const Json& root, const Json& text) {
  for (const Json* object : {&root, &text}) {
    const Json* type = object->find("model_type");
    if (type == nullptr || type->string() == nullptr) continue;
    const std::string& said = *type->string();
    if (said == "deepseek_v41" || said == "deepseek_v41_text") continue;
    if (said == "deepseek_v4") return not_ours("this is a DeepSeek-V4 model, not V4.1");
    return not_ours("model_type is \"" + shown(said) + "\"");
  }
  const bool sources =
      text.find("kv_source_layer_ids") != nullptr || text.find("kv_source_layers") != nullptr;
  const bool engram = text.find("engram_layer_ids") != nullptr;
  if (sources || engram) return {};
  if (text.find("compress_ratios") != nullptr)
    return not_ours("this is a DeepSeek-V4 model: it has no KV sources and no Engram");
  if (root.find("model_type") == nullptr)
    return not_ours("it names no model_type and describes no model of this family");
  return {};
}

Error all_of(const Faults& faults) {
  constexpr std::size_t kMostNamed = 40;
  std::string message;
  if (faults.size() > 1) message = std::to_string(faults.size()) + " faults: ";
  for (std::size_t i = 0; i < std::min(faults.size(), kMostNamed); ++i)
    message += (i == 0 ? "" : "; ") + faults[i];
  if (faults.size() > kMostNamed) message += "; and " + std::to_string(faults.size() - kMostNamed) + " more";
  return Error(Fault::invalid, std::move(message));
}

}  // namespace

Result<Blueprint> read_blueprint(std::string_view config) {
  constexpr std::size_t kLongest = 4 << 20;
  if (config.size() > kLongest) {
    return Error(Fault::invalid,
                 std::to_string(config.size()) + " bytes, more than " + std::to_string(kLongest));
  }
  const Json json = TRY(parse_json(config));
  if (json.object() == nullptr)
    return Error(Fault::invalid, "must be an object, is " + std::string(json.kind_name()));
  const Json* nested = json.find("text_config");
  if (nested != nullptr && nested->object() == nullptr)
    return Error(Fault::invalid, "text_config: must be an object");
  TRY(check_family(json, nested == nullptr ? json : *nested));

  Faults faults;
  const bool flat = nested == nullptr && (json.find("n_layers") != nullptr || json.find("dim") != nullptr);
  ConfigFields root(&json, "", faults,
                    flat ? std::span<const Spelling>(kFlatSpellings) : std::span<const Spelling>());
  ConfigFields text(nested, "text_config.", faults);
  Blueprint blueprint =
      read_numbers(flat ? Form::flat : Form::nested, nested == nullptr ? root : text, root, faults);
  if (!faults.empty()) return all_of(faults);
  return blueprint;
}

}  // namespace manyspan
