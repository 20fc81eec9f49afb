#include "spec/blueprint.h"

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "base/json.h"

namespace manyspan {
namespace {

std::string file(const std::string& name) {
  std::ifstream in(std::string(MANYSPAN_SOURCE_DIR "/") + name);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

Json release() { return parse_json(file("tests/data/configs/release.json")).value(); }

// The release with one key of text_config changed or added.
std::string with(const std::string& key, Json value) {
  Json config = release();
  Json text = *config.find("text_config");
  text.set(key, std::move(value));
  config.set("text_config", std::move(text));
  return compact_json(config);
}

std::string with_root(const std::string& key, Json value) {
  Json config = release();
  config.set(key, std::move(value));
  return compact_json(config);
}

std::string refusal(const std::string& config) {
  auto read = read_blueprint(config);
  return read.ok() ? "accepted" : read.error().message();
}

bool says(const std::string& message, const std::string& part) {
  return message.find(part) != std::string::npos;
}

Json list(std::initializer_list<int> numbers) {
  Json array{Json::Array()};
  for (const int n : numbers) array.push(n);
  return array;
}

TEST(Blueprint, TheReleaseIsReadWhole) {
  auto read = read_blueprint(file("tests/data/configs/release.json"));
  ASSERT_TRUE(read.ok()) << read.error().message();
  const Blueprint& b = read.value();
  EXPECT_EQ(b.hidden, 5120);
  EXPECT_EQ(b.layers, 40);
  EXPECT_EQ(b.compress_ratios.size(), 40u);
  EXPECT_EQ(b.context, 1048576);
  EXPECT_EQ(b.norm_eps, 1e-20f);
  EXPECT_EQ(b.yarn.factor, 16);
  EXPECT_EQ(b.yarn.original_length, 65536);
  EXPECT_EQ(b.engram.table_rows[1], 384016682);
  ASSERT_TRUE(b.draft);
  EXPECT_EQ(b.draft_targets(), (std::vector<std::int32_t>{37, 38, 39}));
  ASSERT_TRUE(b.vision);
  EXPECT_EQ(b.vision->min_pixels, 295936);
  EXPECT_FALSE(b.vision->max_aspect);
  EXPECT_TRUE(b.quantization.scales_ue8m0);
  EXPECT_EQ(b.quantization.expert_dtype, Quantization::ExpertDtype::fp4);
  EXPECT_TRUE(b.warnings.empty()) << b.warnings[0];
}

TEST(Blueprint, TheFlatFormSaysTheSame) {
  const Blueprint nested = read_blueprint(file("tests/data/configs/release.json")).value();
  auto read = read_blueprint(file("tests/data/configs/release_flat.json"));
  ASSERT_TRUE(read.ok()) << read.error().message();
  const Blueprint& b = read.value();
  EXPECT_EQ(b.hidden, nested.hidden);
  EXPECT_EQ(b.expert_inner, nested.expert_inner);
  EXPECT_EQ(b.context, nested.context);
  EXPECT_EQ(b.compress_ratios, nested.compress_ratios);
  EXPECT_EQ(b.index_sources, nested.index_sources);
  EXPECT_EQ(b.route_scale, nested.route_scale);
  EXPECT_EQ(b.draft->experts_per_token, 3);
  EXPECT_EQ(b.eos_token, 1);
  EXPECT_TRUE(b.quantization.scales_ue8m0);
  EXPECT_FALSE(b.vision);
  EXPECT_TRUE(b.warnings.empty()) << b.warnings[0];
}

TEST(Blueprint, TheTinyAndTheBundledModelAreRead) {
  for (const char* name : {"tests/data/t1_base/config.json", "models/first-light/config.json"}) {
    auto read = read_blueprint(file(name));
    ASSERT_TRUE(read.ok()) << name << read.error().message();
    EXPECT_FALSE(read.value().vision);
  }
}

TEST(Blueprint, EveryFaultIsNamedAtOnce) {
  Json config = release();
  Json text = *config.find("text_config");
  text.set("hidden_act", "gelu");
  text.set("head_dim", 500);
  text.set("num_attention_heads", "many");
  text.set("candidate_topk_blocks", 3);
  text.set("index_source_layer_ids", list({2, 8, 14, 20, 28, 24}));
  text.set("engram_hidden", 7);
  config.set("text_config", std::move(text));
  const std::string message = refusal(compact_json(config));
  EXPECT_TRUE(says(message, "6 faults")) << message;
  EXPECT_TRUE(says(message, "\"gelu\" is not supported")) << message;
  EXPECT_TRUE(says(message, "head_dim is 500, must be a multiple of 32")) << message;
  EXPECT_TRUE(says(message, "num_attention_heads: must be an integer, is a string")) << message;
  EXPECT_TRUE(says(message, "is 17, must be at least index_topk, 512")) << message;
  EXPECT_TRUE(says(message, "index_source_layer_ids[5] is 24, must be above the entry before it, 28"))
      << message;
  EXPECT_TRUE(says(message, "text_config.engram_hidden: a key of the model")) << message;
}

TEST(Blueprint, InconsistentSourcesAreRefused) {
  EXPECT_TRUE(says(refusal(with("kv_source_layer_ids", list({3, 8, 14, 20}))),
                   "layer 2 has compress_ratio 2 and no layer of kv"));
  EXPECT_TRUE(says(refusal(with("kv_source_layer_ids", list({2, 8, 14}))),
                   "layer 20 has compress_ratio 1, its KV source 14 has 2"));
  EXPECT_TRUE(says(refusal(with("kv_source_layer_ids", list({1, 2, 8, 14, 20}))),
                   "names layer 1, whose compress_ratio is 0"));
  EXPECT_TRUE(says(refusal(with("kv_source_layer_ids", list({2, 8, 14, 20, 40}))),
                   "is 40, must be below num_hidden_layers, 40"));
  EXPECT_TRUE(says(refusal(with("index_source_layer_ids", list({2, 14, 20, 24}))),
                   "layer 8: no layer of index_source"));
  EXPECT_TRUE(says(refusal(with("candidate_source_layer_id", 21)), "must be one of index_source_layer_ids"));
  EXPECT_TRUE(says(refusal(with("candidate_source_layer_id", 14)), "does not share its KV source"));
  EXPECT_TRUE(says(refusal(with("compress_ratios", list({0, 0, 2}))), "the length of compress_ratios is 3"));
  EXPECT_TRUE(says(refusal(with("num_nextn_predict_layers", 2)), "the length of compress_ratios is 43"));
}

TEST(Blueprint, UnfitNumbersAreRefused) {
  EXPECT_TRUE(says(refusal(with("num_hidden_layers", 100000000)),
                   "num_hidden_layers: is 100000000, supported: 1 to 1024"));
  EXPECT_TRUE(says(refusal(with("num_hidden_layers", 40.0)), "must be an integer"));
  EXPECT_TRUE(says(refusal(with("vocab_size", -5)), "vocab_size: is -5"));
  EXPECT_TRUE(says(refusal(with("o_groups", 7)), "num_attention_heads is 64, must be a multiple of 7"));
  EXPECT_TRUE(says(refusal(with("o_groups", 16)), "o_groups: is 16, supported: 1 to 8"));
  EXPECT_TRUE(says(refusal(with("hc_mult", 9)), "hc_mult: is 9"));
  EXPECT_TRUE(says(refusal(with("scoring_func", "softmax")), "\"softmax\" is not supported"));
  EXPECT_TRUE(says(refusal(with("num_experts_per_tok", 385)), "supported: 1 to 64"));
  EXPECT_TRUE(says(refusal(with("engram_num_embeddings", list({384006168, 5}))),
                   "engram_num_embeddings[1] is 5, must be 384016682"));
  EXPECT_TRUE(says(refusal(with("engram_layer_ids", list({1}))), "the length of engram_num_embeddings is 2"));
  EXPECT_TRUE(
      says(refusal(with("dspark_target_layer_ids", list({38, 39, 40}))), "dspark_target_layer_ids[2] is 40"));
  EXPECT_TRUE(says(refusal(with("rms_norm_eps", "1e-20")), "must be a number"));
}

TEST(Blueprint, AHostileConfigCostsNothing) {
  EXPECT_TRUE(says(refusal(with("n_routed_experts", 4096)), "accepted"));
  Json config = release();
  Json text = *config.find("text_config");
  Json ratios{Json::Array()};
  for (int i = 0; i < 1000000; ++i) ratios.push(1);
  text.set("compress_ratios", std::move(ratios));
  config.set("text_config", std::move(text));
  EXPECT_TRUE(says(refusal(compact_json(config)), "has 1000000 entries"));
  for (const char* bad : {"", "[]", "{", "nul", "{\"text_config\": 3}", "{\"model_type\": 5}", "{\"a\":1}"}) {
    EXPECT_FALSE(read_blueprint(bad).ok()) << bad;
  }
}

TEST(Blueprint, OtherModelsAreRefusedByName) {
  EXPECT_TRUE(says(refusal(with_root("model_type", "deepseek_v4")), "this is a DeepSeek-V4 model, not V4.1"));
  EXPECT_TRUE(says(refusal(with_root("model_type", "llama")), "model_type is \"llama\""));
  EXPECT_TRUE(says(refusal(R"({"dim": 4096, "n_layers": 43, "compress_ratios": [0, 0, 4, 128]})"),
                   "DeepSeek-V4 model"));
  EXPECT_TRUE(says(refusal(with("model_type", "qwen3")), "model_type is \"qwen3\""));
}

TEST(Blueprint, NoMessageNamesTheFileWhichTheCallerDoes) {
  EXPECT_EQ(refusal(with("o_groups", 16)), "text_config.o_groups: is 16, supported: 1 to 8");
  EXPECT_TRUE(refusal(with_root("model_type", "llama")).starts_with("model_type is \"llama\"; this program"));
  Json config = release();
  config.set("text_config", 3);
  for (const std::string& bad :
       {std::string(""), std::string("[]"), std::string("{}"), compact_json(config),
        with_root("model_type", "deepseek_v4"), std::string((4 << 20) + 1, ' '), with("hc_hidden", 1)}) {
    const std::string message = refusal(bad);
    EXPECT_NE(message, "accepted");
    EXPECT_FALSE(says(message, "config.json")) << message;
  }
  Json flat = parse_json(file("tests/data/configs/release_flat.json")).value();
  flat.set("vision_config", Json(Json::Object()));
  flat.set("colour", "green");
  for (const std::string& config_text : {compact_json(flat), with("favourite_colour", "green")}) {
    const auto warnings = read_blueprint(config_text).value().warnings;
    EXPECT_FALSE(warnings.empty());
    for (const std::string& warning : warnings) EXPECT_FALSE(says(warning, "config.json")) << warning;
  }
}

TEST(Blueprint, UnknownKeysAreWarnedOfOnce) {
  auto read = read_blueprint(with("favourite_colour", "green"));
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(read.value().warnings.size(), 1u);
  EXPECT_TRUE(says(read.value().warnings[0], "text_config.favourite_colour"));
}

TEST(Blueprint, MissingPartsAreOff) {
  EXPECT_FALSE(read_blueprint(with_root("image_token_id", -1)).value().vision);
  EXPECT_FALSE(read_blueprint(with_root("vision_config", Json())).value().vision);
  const Blueprint b = read_blueprint(with("candidate_source_layer_id", -1)).value();
  EXPECT_EQ(b.candidate_source, -1);
}

TEST(Blueprint, TheBlockOfScalesIsWhatTheFileSays) {
  const auto quantization = [](Json block, const char* method) {
    Json q = *release().find("quantization_config");
    q.set("quant_method", method);
    q.set("weight_block_size", std::move(block));
    return with_root("quantization_config", std::move(q));
  };
  EXPECT_EQ(read_blueprint(quantization(list({128, 128}), "fp8")).value().quantization.block_rows, 128);
  EXPECT_EQ(read_blueprint(quantization(list({1, 32}), "fp8")).value().quantization.block_rows, 1);
  EXPECT_EQ(read_blueprint(quantization(Json(), "mxfp8")).value().quantization.block_rows, 1);
  EXPECT_EQ(read_blueprint(quantization(Json(), "fp8")).value().quantization.block_rows, 32);
  EXPECT_TRUE(says(refusal(quantization(list({64, 64}), "fp8")), "only [32,32], [128,128] and [1,32]"));
  for (const char* method : {"gptq", "exl3", "compressed-tensors"}) {
    EXPECT_TRUE(says(refusal(quantization(list({32, 32}), method)),
                     "quant_method: \"" + std::string(method) + "\" is not supported"));
  }
}

TEST(Blueprint, OtherProgramsSayHowTheyQuantised) {
  const auto with_quantization = [](const char* text) {
    return with_root("quantization_config", parse_json(text).value());
  };
  auto mlx = read_blueprint(with_quantization(
      R"({"group_size": 32, "bits": 4, "mode": "mxfp4", "language_model.layers.0.attn.wkv": {"bits": 8}})"));
  ASSERT_TRUE(mlx.ok()) << mlx.error().message();
  EXPECT_EQ(mlx.value().quantization.method, "mlx");
  EXPECT_TRUE(says(refusal(with_quantization(R"({"group_size": 64, "bits": 4})")),
                   "quantization_config.mode: \"affine\" is not supported"));
  auto nvidia = read_blueprint(with_quantization(
      R"({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "moe_quant_algo": "NVFP4", "group_size": 16,
          "ignore": ["head"], "activation_scheme": "static"})"));
  ASSERT_TRUE(nvidia.ok()) << nvidia.error().message();
  EXPECT_EQ(nvidia.value().quantization.block_rows, 32);
  EXPECT_TRUE(nvidia.value().warnings.empty());
  EXPECT_TRUE(says(refusal(with_quantization(R"({"quant_method": "modelopt", "quant_algo": "W4A8_AWQ"})")),
                   "\"W4A8_AWQ\" is not supported"));
}

}  // namespace
}  // namespace manyspan
