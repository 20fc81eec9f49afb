#include "spec/blueprint_reader.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "spec/blueprint_checks.h"

namespace manyspan {
namespace {

constexpr Between<std::int64_t> kCount{1, 1 << 16}, kWidth{2, 1 << 20}, kLayers{0, kMostLayers - 1},
    kToken{0, kMostTokens - 1};
constexpr Between<double> kPositive{1e-30, 1e30}, kNotNegative{0, 1e30};
constexpr std::size_t kListLength = 2 * kMostLayers;

struct Reader {
  Form form;
  ConfigFields& text;
  ConfigFields& root;  // may be text
  Faults& faults;
  Blueprint b{};
  std::int32_t stages = 0;
  std::vector<std::int32_t> ratios{};  // compress_ratios, the draft stages' included

  void widths() {
    b.vocabulary = text.int32("vocab_size", {4, kMostTokens});
    b.hidden = text.int32("hidden_size", kWidth);
    b.layers = text.int32("num_hidden_layers", {1, kMostLayers});
    stages = text.int32("num_nextn_predict_layers", {0, 64}, 0);
    b.heads = text.int32("num_attention_heads", {1, 4096});
    b.head_dim = text.int32("head_dim", {2, 1 << 14});
    b.rope_dim = text.int32("qk_rope_head_dim", {2, 1 << 14});
    b.q_rank = text.int32("q_lora_rank", kWidth);
    b.o_rank = text.int32("o_lora_rank", kWidth);
    b.o_groups = text.int32("o_groups", {1, 8});
    b.window = text.int32("sliding_window", kCount);
    b.norm_eps = text.number("rms_norm_eps", kNotNegative);
    b.streams = text.int32("hc_mult", {1, 8});
    b.sinkhorn_iterations = text.int32("hc_sinkhorn_iters", {1, 1000});
    b.mix_eps = text.number("hc_eps", kNotNegative);
  }

  void experts() {
    b.experts = text.int32("n_routed_experts", {1, 4096});
    b.experts_per_token = text.int32("num_experts_per_tok", {1, 64});
    b.expert_inner = text.int32("moe_intermediate_size", kWidth);
    b.route_scale = text.number("routed_scaling_factor", kPositive);
    b.gate_temperature = text.number("gate_temp", kPositive, 1.0);
    b.normalise_routes = text.flag("norm_topk_prob", true);
    b.swiglu_limit = text.number("swiglu_limit", kPositive);
    text.integer("n_shared_experts", {1, 1}, 1);
  }

  // What the released model fixes: another value would need other arithmetic.
  void fixed() {
    const auto only = [&](std::string_view name, std::string_view value) {
      const std::string found = text.text(name, value);
      if (found != value)
        text.fault(name, "\"" + found + "\" is not supported, only \"" + std::string(value) + "\"");
    };
    only("scoring_func", "sqrtsoftplus");
    if (form == Form::flat) return;
    only("hidden_act", "silu");
    only("topk_method", "noaux_tc");
    text.integer("num_key_value_heads", {1, 1}, 1);
    for (const std::string_view name : {"attention_bias", "tie_word_embeddings"}) {
      if (text.flag(name, false)) text.fault(name, "true is not supported");
    }
  }

  void rope() {
    b.rope_theta = text.number("rope_theta", kPositive);
    b.compress_rope_theta = text.number("compress_rope_theta", kPositive);
    b.yarn = {1, 32, 1, 0};
    if (form == Form::flat) return yarn(text);
    b.context = text.integer("max_position_embeddings", {1, kMostContext});
    const Json* scaling = text.object("rope_scaling");
    if (scaling == nullptr) return;
    ConfigFields fields(scaling, text.place() + "rope_scaling.", faults);
    const std::string_view type_key = fields.has("rope_type") ? "rope_type" : "type";
    const std::string type = fields.text(type_key);
    if (type != "yarn") return fields.fault(type_key, "\"" + type + "\" is not supported, only \"yarn\"");
    yarn(fields);
    note_unread(fields);
  }

  void yarn(ConfigFields& fields) {
    b.yarn.factor = fields.number("factor", {1, 1e6});
    b.yarn.beta_fast = fields.number("beta_fast", kPositive, 32.0);
    b.yarn.beta_slow = fields.number("beta_slow", kPositive, 1.0);
    b.yarn.original_length = fields.integer("original_max_position_embeddings", {0, kMostContext});
    if (form == Form::flat)
      b.context = std::min<std::int64_t>(
          kMostContext,
          static_cast<std::int64_t>(static_cast<double>(b.yarn.original_length) * b.yarn.factor));
  }

  void sources() {
    ratios = text.int32s("compress_ratios", kListLength, {0, kMostRatio});
    b.kv_sources = text.int32s("kv_source_layer_ids", kListLength, kLayers);
    b.index_sources = text.int32s("index_source_layer_ids", kListLength, kLayers);
    b.index_heads = text.int32("index_n_heads", {1, 4096});
    b.index_dim = text.int32("index_head_dim", {2, 1 << 14});
    b.index_rows = text.int32("index_topk", kCount);
    b.candidate_source =
        std::max(-1, text.int32("candidate_source_layer_id", {-kMostLayers, kMostLayers}, -1));
    if (b.candidate_source < 0) return text.ignore({"candidate_topk_blocks", "candidate_block_size"});
    b.candidate_blocks = text.int32("candidate_topk_blocks", kCount);
    b.candidate_block_rows = text.int32("candidate_block_size", kCount);
  }

  void engram() {
    EngramNumbers& e = b.engram;
    e.layers = text.int32s("engram_layer_ids", kMostEngramLayers, kLayers);
    e.table_rows = text.integers("engram_num_embeddings", kMostEngramLayers, {1, kMostTableRows});
    e.max_ngram = text.int32("engram_max_ngram_size", {2, 8});
    e.vocab_size = text.integer("engram_vocab_size", {2, kMostTableRows});
    e.heads = text.int32("engram_n_heads", {1, 64});
    e.head_dim = text.int32("engram_head_dim", {32, 1 << 14});
    e.pad_token = text.int32("engram_pad_token_id", kToken);
    e.token_classes = text.int32("engram_compressed_vocab_size", {1, kMostTokens});
  }

  void draft() {
    if (stages == 0) {
      return text.ignore({"dspark_block_size", "dspark_noise_token_id", "dspark_target_layer_ids",
                          "dspark_markov_rank", "dspark_n_routed_experts", "dspark_num_experts_per_tok",
                          "dspark_n_activated_experts"});
    }
    DraftNumbers d{};
    d.stages = stages;
    d.block = text.int32("dspark_block_size", {1, 64});
    d.noise_token = text.int32("dspark_noise_token_id", kToken);
    d.target_layers = text.int32s("dspark_target_layer_ids", 64, kLayers);
    d.markov_rank = text.int32("dspark_markov_rank", kWidth);
    d.experts = text.int32("dspark_n_routed_experts", {1, 4096});
    d.experts_per_token = text.int32("dspark_num_experts_per_tok", {1, 64});
    b.draft = std::move(d);
  }

  void special_tokens() {
    b.bos_token = root.int32("bos_token_id", kToken, 0);
    b.eos_token = root.int32("eos_token_id", kToken, 1);
    b.pad_token = root.int32("pad_token_id", kToken, 2);
    if (form == Form::flat) return;
    const auto repeated = [&](std::string_view name, std::int32_t value) {
      const std::int64_t again = text.integer(name, kToken, value);
      if (again != value)
        text.fault(name, std::to_string(again) + ", but " + std::to_string(value) + " at the root");
    };
    repeated("bos_token_id", b.bos_token);
    repeated("eos_token_id", b.eos_token);
    repeated("pad_token_id", b.pad_token);
  }

  void vision() {
    if (form == Form::flat) {
      if (root.has("vision_config"))
        b.warnings.push_back("vision_config is ignored in the flat form, which is text only");
      return root.ignore({"vision_config", "image_token_id"});
    }
    const std::int32_t image = root.int32("image_token_id", {-1, kMostTokens - 1}, -1);
    const Json* object = root.object("vision_config");
    if (object == nullptr || image < 0) return;
    ConfigFields v(object, "vision_config.", faults);
    VisionNumbers n{};
    n.image_token = image;
    n.layers = v.int32("num_hidden_layers", {1, kMostLayers});
    n.hidden = v.int32("hidden_size", kWidth);
    n.heads = v.int32("num_attention_heads", {1, 4096});
    n.inner = v.int32("intermediate_size", kWidth);
    n.patch = v.int32("patch_size", {1, 1024});
    n.downsample = v.int32("downsample_ratio", {1, 64});
    n.rope_theta = v.number("rope_theta", kPositive, 10000.0);
    n.max_image_tokens = v.int32("max_image_tokens", {4, 1 << 20});
    n.min_pixels = v.integer("min_pixels", {1, std::int64_t{1} << 40});
    if (v.has("max_wh_ratio")) n.max_aspect = v.number("max_wh_ratio", kPositive);
    v.ignore({"max_wh_ratio", "model_type"});
    note_unread(v);
    b.vision = n;
  }

  void quantization() {
    Quantization& q = b.quantization;
    if (form == Form::flat) {
      q.scales_ue8m0 = true;
      expert_dtype(root);
      return root.ignore({"dtype", "scale_fmt", "scale_dtype"});
    }
    // MLX writes the same object twice, under a name of its own too.
    const Json* mlx = root.object("quantization");
    const Json* object = root.object("quantization_config");
    if (object == nullptr) object = mlx;
    if (object == nullptr) return expert_dtype(root);
    ConfigFields fields(object, "quantization_config.", faults);
    if (!fields.has("quant_method") && fields.has("bits")) return words(fields);
    q.method = fields.text("quant_method");
    if (q.method != "fp8" && q.method != "mxfp8" && q.method != "modelopt") {
      fields.fault("quant_method",
                   "\"" + q.method + "\" is not supported, only \"fp8\", \"mxfp8\" and \"modelopt\"");
    }
    if (q.method == "modelopt") modelopt(fields);
    if (q.method == "mxfp8") q.block_rows = 1;
    if (fields.has("weight_block_size")) {
      const auto block = fields.int32s("weight_block_size", 2, {1, 1 << 16});
      const bool known =
          block == std::vector{32, 32} || block == std::vector{128, 128} || block == std::vector{1, 32};
      if (!known) fields.fault("weight_block_size", "only [32,32], [128,128] and [1,32] are supported");
      if (known && q.method == "mxfp8" && block[0] != 1)
        fields.fault("weight_block_size", "mxfp8 has blocks of [1,32]");
      if (known) q.block_rows = block[0], q.block_cols = block[1];
      q.block_said = known;
    }
    const std::string format = fields.text("scale_fmt", q.method == "mxfp8" ? "ue8m0" : "");
    q.scales_ue8m0 = format == "ue8m0";
    if (!q.scales_ue8m0 && !format.empty() && format != "float32")
      fields.fault("scale_fmt", "\"" + format + "\" is not supported");
    const std::string activations = fields.text("activation_scheme", "dynamic");
    if (activations != "dynamic" && q.method != "modelopt")
      fields.fault("activation_scheme", "\"" + activations + "\" is not supported, only \"dynamic\"");
    const std::string codes = fields.text("fmt", "e4m3");
    if (codes != "e4m3") fields.fault("fmt", "\"" + codes + "\" is not supported, only \"e4m3\"");
    expert_dtype(fields);
    const auto said = q.expert_dtype;
    expert_dtype(root);
    if (said != Quantization::ExpertDtype::unsaid && q.expert_dtype != said) {
      root.fault("expert_dtype", "differs from quantization_config.expert_dtype");
    }
    note_unread(fields);
  }

  // MLX's packed words: each tensor tells its own bits; only what scales are is the mode's to say.
  void words(ConfigFields& fields) {
    b.quantization.method = "mlx";
    const std::string mode = fields.text("mode", "affine");
    if (mode != "mxfp4" && mode != "mxfp8" && mode != "nvfp4") {
      fields.fault("mode", "\"" + mode + "\" is not supported, only \"mxfp4\", \"mxfp8\" and \"nvfp4\"");
    }
    fields.integer("bits", {4, 8});
    fields.integer("group_size", {16, 32}, 32);
    expert_dtype(root);  // what else is here are exceptions for single tensors
  }

  // Of one tensor it says what the tensors say themselves: those left out, and by what rule others were made.
  void modelopt(ConfigFields& fields) {
    fields.ignore({"quant_algo", "moe_quant_algo", "group_size", "ignore", "exclude_modules", "producer",
                   "config_groups", "kv_cache_scheme", "kv_cache_quant_algo", "quantized_layers",
                   "activation_scheme"});
    for (const std::string_view key : {"quant_algo", "moe_quant_algo"}) {
      const std::string algorithm = fields.text(key, "NVFP4");
      if (algorithm != "NVFP4" && algorithm != "MIXED_PRECISION")
        fields.fault(key, "\"" + algorithm + "\" is not supported, only \"NVFP4\" and \"MIXED_PRECISION\"");
    }
  }

  void expert_dtype(ConfigFields& fields) {
    using Dtype = Quantization::ExpertDtype;
    if (!fields.has("expert_dtype")) return;
    const std::string said = fields.text("expert_dtype");
    if (said == "fp4" || said == "nvfp4")
      b.quantization.expert_dtype = Dtype::fp4;
    else if (said == "fp8")
      b.quantization.expert_dtype = Dtype::fp8;
    else if (said == "bf16")
      b.quantization.expert_dtype = Dtype::bf16;
    else
      fields.fault("expert_dtype", "\"" + said + "\" is not supported, only \"fp4\", \"fp8\" and \"bf16\"");
  }

  // Keys that nobody asked for: the model's own must not be misread, so they are refused.
  void note_unread(const ConfigFields& fields) {
    constexpr std::size_t kMostWarnings = 32;
    for (const std::string& name : fields.unread()) {
      const bool owned = std::any_of(std::begin(kOwnedPrefixes), std::end(kOwnedPrefixes),
                                     [&](std::string_view prefix) { return name.starts_with(prefix); });
      const std::string full = fields.place() + shown(name);
      if (owned)
        faults.push_back(full + ": a key of the model that this program does not know");
      else if (b.warnings.size() < kMostWarnings)
        b.warnings.push_back(full + " is not known and is ignored");
    }
  }

  void read() {
    widths(), experts(), fixed(), rope(), sources(), engram(), draft();
    special_tokens(), vision(), quantization();
    root.ignore(
        {"architectures", "model_type", "text_config", "dtype", "torch_dtype", "transformers_version"});
    text.ignore({"architectures", "model_type", "dtype", "torch_dtype", "expert_dtype",
                 "transformers_version", "initializer_range", "attention_dropout", "use_cache"});
    if (form == Form::flat) text.ignore({"max_seq_len", "max_batch_size", "temperature"});
    note_unread(root);
    if (&text != &root) note_unread(text);
    check();
  }

  // A value that could not be read says nothing about the others: complaints that rest on one are left out.
  void check() {
    Faults found;
    check_blueprint(b, ratios, found);
    const auto rests_on = [](const std::string& fault, const ConfigFields& fields) {
      return std::any_of(fields.faulty().begin(), fields.faulty().end(),
                         [&](const std::string& key) { return fault.find(key) != std::string::npos; });
    };
    for (std::string& fault : found) {
      if (!rests_on(fault, text) && !rests_on(fault, root)) faults.push_back(std::move(fault));
    }
    ratios.resize(std::min(ratios.size(), static_cast<std::size_t>(b.layers)));
    b.compress_ratios = std::move(ratios);
  }
};

}  // namespace

Blueprint read_numbers(Form form, ConfigFields& text, ConfigFields& root, Faults& faults) {
  Reader reader{form, text, root, faults};
  reader.read();
  return std::move(reader.b);
}

}  // namespace manyspan
