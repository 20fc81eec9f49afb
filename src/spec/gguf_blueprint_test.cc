#include "spec/gguf_blueprint.h"

#include <fstream>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "spec/gguf_engram.h"
#include "spec/gguf_trial.h"

namespace manyspan {
namespace {

std::string release_text() {
  std::ifstream in(MANYSPAN_SOURCE_DIR "/tests/data/configs/release.json");
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

const Blueprint& release() {
  static const Blueprint blueprint = read_blueprint(release_text()).value();
  return blueprint;
}

// The tensors that tell something, by name, as the released model has them.
using Tensors = std::map<std::string, std::vector<std::int64_t>>;

Tensors tensors_of(const Blueprint& b) {
  Tensors tensors;
  const auto put = [&](std::int32_t layer, const char* rest, std::vector<std::int64_t> shape) {
    tensors["blk." + std::to_string(layer) + "." + rest] = std::move(shape);
  };
  tensors["token_embd.weight"] = {b.vocabulary, b.hidden};
  for (std::int32_t l = 0; l < b.layers; ++l) put(l, "ffn_gate_inp.weight", {b.experts, b.hidden});
  for (const std::int32_t l : b.kv_sources) {
    put(l, "attn_compressor_kv.weight", {b.head_dim, b.hidden});
    if (b.compress_ratios[static_cast<std::size_t>(l)] > 1)
      put(l, "attn_compressor_gate.weight", {b.head_dim, b.hidden});
  }
  for (const std::int32_t l : b.index_sources) put(l, "indexer.attn_q_b.weight", {4096, b.q_rank});
  for (std::size_t i = 0; i < b.engram.layers.size(); ++i)
    put(b.engram.layers[i], "engram_embd.weight", {b.engram.table_rows[i], b.engram.head_dim});
  return tensors;
}

Result<GgufModel> read(const Json& keys, const Tensors& tensors,
                       std::optional<std::int64_t> classes = std::nullopt) {
  std::vector<GgufTensor> list;
  for (const auto& [name, shape] : tensors) list.push_back({name, shape});
  return read_gguf_blueprint(keys, list, classes);
}

std::string refusal(const Json& keys, const Tensors& tensors = tensors_of(release())) {
  auto model = read(keys, tensors);
  return model.ok() ? "accepted" : model.error().message();
}

Json without(const Json& keys, std::string_view part) {
  Json kept = Json::Object{};
  for (const JsonMember& m : *keys.object()) {
    if (m.key.find(part) == std::string::npos) kept.set(m.key, m.value);
  }
  return kept;
}

Json with(Json keys, const char* key, Json value) {
  keys.set(std::string("deepseek41.") + key, std::move(value));
  return keys;
}

#define EXPECT_SAYS(message, part) EXPECT_NE((message).find(part), std::string::npos) << (message)

// Every number that what the model computes depends on.
void expect_same(const Blueprint& a, const Blueprint& b) {
#define EXPECT_SAME(member) EXPECT_EQ(a.member, b.member) << #member
  EXPECT_SAME(vocabulary);
  EXPECT_SAME(hidden);
  EXPECT_SAME(layers);
  EXPECT_SAME(heads);
  EXPECT_SAME(head_dim);
  EXPECT_SAME(rope_dim);
  EXPECT_SAME(q_rank);
  EXPECT_SAME(o_rank);
  EXPECT_SAME(o_groups);
  EXPECT_SAME(window);
  EXPECT_SAME(experts);
  EXPECT_SAME(experts_per_token);
  EXPECT_SAME(expert_inner);
  EXPECT_SAME(route_scale);
  EXPECT_SAME(gate_temperature);
  EXPECT_SAME(normalise_routes);
  EXPECT_SAME(swiglu_limit);
  EXPECT_SAME(norm_eps);
  EXPECT_SAME(rope_theta);
  EXPECT_SAME(compress_rope_theta);
  EXPECT_SAME(context);
  EXPECT_SAME(yarn.factor);
  EXPECT_SAME(yarn.beta_fast);
  EXPECT_SAME(yarn.beta_slow);
  EXPECT_SAME(yarn.original_length);
  EXPECT_SAME(compress_ratios);
  EXPECT_SAME(kv_sources);
  EXPECT_SAME(index_sources);
  EXPECT_SAME(index_heads);
  EXPECT_SAME(index_dim);
  EXPECT_SAME(index_rows);
  EXPECT_SAME(candidate_source);
  EXPECT_SAME(candidate_blocks);
  EXPECT_SAME(candidate_block_rows);
  EXPECT_SAME(streams);
  EXPECT_SAME(sinkhorn_iterations);
  EXPECT_SAME(mix_eps);
  EXPECT_SAME(engram.layers);
  EXPECT_SAME(engram.table_rows);
  EXPECT_SAME(engram.max_ngram);
  EXPECT_SAME(engram.vocab_size);
  EXPECT_SAME(engram.heads);
  EXPECT_SAME(engram.head_dim);
  EXPECT_SAME(engram.pad_token);
  EXPECT_SAME(engram.token_classes);
  EXPECT_SAME(bos_token);
  EXPECT_SAME(eos_token);
  EXPECT_SAME(pad_token);
#undef EXPECT_SAME
}

TEST(GgufBlueprint, OwnKeysGiveTheBlueprintOfTheConfig) {
  auto model = read(own_keys(release()), tensors_of(release()));
  ASSERT_TRUE(model.ok()) << model.error().message();
  expect_same(model.value().blueprint, release());
  EXPECT_TRUE(model.value().blueprint.warnings.empty());
  EXPECT_EQ(model.value().blueprint.quantization.method, "none");
}

TEST(GgufBlueprint, RepeatedKeysGiveTheBlueprintOfTheConfig) {
  for (const std::string& config : {release_text(), std::string()}) {
    auto model = read(repeated_keys(release(), config), tensors_of(release()));
    ASSERT_TRUE(model.ok()) << model.error().message();
    expect_same(model.value().blueprint, release());
    EXPECT_EQ(model.value().blueprint.draft.has_value(), !config.empty());
  }
}

TEST(GgufBlueprint, WhatOwnKeysLeaveOutFollowsFromTheTensors) {
  // No candidate keys and no constants: the tokenizer gives the number of classes.
  const Json keys = without(without(own_keys(release()), "candidate"), "deepseek41.engram.");
  auto model = read(keys, tensors_of(release()), 99092);
  ASSERT_TRUE(model.ok()) << model.error().message();
  expect_same(model.value().blueprint, release());
  EXPECT_TRUE(model.value().token_map.empty());
}

TEST(GgufBlueprint, WhatKeysSayMustBeWhatTheTensorsSay) {
  const Json keys = own_keys(release());
  EXPECT_EQ(refusal(with(keys, "attention.kv_source_layers", json_list(std::vector{2, 8, 14, 20}))),
            "accepted");
  EXPECT_SAYS(refusal(with(keys, "attention.kv_source_layers", json_list(std::vector{2, 8, 14}))),
              "but the layers with attn_compressor_kv.weight are [2,8,14,20]");
  EXPECT_SAYS(refusal(with(keys, "attention.indexer.source_layers", json_list(std::vector{2}))),
              "but the layers with indexer.attn_q_b.weight are [2,8,14,20,24,28,32,36]");
  Tensors tensors = tensors_of(release());
  tensors.erase("blk.8.attn_compressor_gate.weight");
  EXPECT_SAYS(refusal(keys, tensors), "layer 8 has 2, but no attn_compressor_gate.weight");
}

TEST(GgufBlueprint, TwoSpellingsThatDisagreeAreRefused) {
  const Json keys = own_keys(release());
  EXPECT_EQ(refusal(with(keys, "engram.n_heads", 8)), "accepted");
  EXPECT_SAYS(refusal(with(keys, "engram.n_heads", 4)),
              "deepseek41.engram.n_heads: 4, but deepseek41.engram.head_count is 8");
  EXPECT_SAYS(refusal(with(keys, "attention.candidate_top_blocks", 7)),
              "attention.candidate_topk_blocks is 2048");
  const Json repeated = repeated_keys(release(), release_text());
  EXPECT_SAYS(refusal(with(repeated, "hidden_size", 4096)),
              "deepseek41.hidden_size: 4096, but deepseek41.config has 5120");
  EXPECT_SAYS(refusal(with(repeated, "rope_scaling.factor", 8.0)), "deepseek41.config has 16");
  EXPECT_SAYS(refusal(with(repeated, "engram.layer_ids", json_list(std::vector{1, 15}))), "engram_layer_ids");
  EXPECT_SAYS(refusal(with(repeated, "config", "{")), "deepseek41.config: ");
}

TEST(GgufBlueprint, FaultsNameTheFilesKeys) {
  const Json keys = own_keys(release());
  EXPECT_SAYS(refusal(without(keys, "embedding_length")), "deepseek41.embedding_length: missing");
  EXPECT_SAYS(refusal(with(keys, "expert_gating_func", 2)), "expert_gating_func: 2 is not supported");
  EXPECT_SAYS(refusal(with(keys, "attention.compress_ratios", json_list(std::vector{0, 0}))),
              "2 entries for 40 layers");
  EXPECT_SAYS(refusal(with(keys, "swiglu_clamp_shexp", 7.0)), "layers with different limits");
  EXPECT_SAYS(refusal(with(keys, "hash_layer_count", 1)), "hash_layer_count");
  EXPECT_SAYS(refusal(with(keys, "attention.value_length", 64)), "attention.value_length: differs");
  Json with_bos = keys;
  with_bos.set("tokenizer.ggml.eos_token_id", 7);
  EXPECT_EQ(read(with_bos, tensors_of(release())).value().blueprint.eos_token, 7);
  auto unknown = read(with(keys, "engram.0.table_path", "/etc"), tensors_of(release()));
  ASSERT_TRUE(unknown.ok());
  ASSERT_EQ(unknown.value().blueprint.warnings.size(), 1u);
  EXPECT_SAYS(unknown.value().blueprint.warnings[0], "deepseek41.engram.0.table_path is not known");
}

TEST(GgufBlueprint, BlocksOfTheDraftModelAreNoLayers) {
  Json keys = with(own_keys(release()), "block_count", 43);
  std::vector<std::int32_t> ratios = release().compress_ratios;
  ratios.resize(43);
  keys = with(keys, "attention.compress_ratios", json_list(ratios));
  Tensors tensors = tensors_of(release());
  for (int l = 40; l < 43; ++l) tensors["blk." + std::to_string(l) + ".ffn_gate_inp.weight"] = {128, 5120};
  auto model = read(keys, tensors);
  ASSERT_TRUE(model.ok()) << model.error().message();
  expect_same(model.value().blueprint, release());
  EXPECT_SAYS(refusal(with(keys, "nextn_predict_layers", 2), tensors), "but 3 blocks at the end");
  ratios[41] = 1;
  EXPECT_SAYS(refusal(with(keys, "attention.compress_ratios", json_list(ratios)), tensors), "entry 41 is 1");
}

TEST(GgufBlueprint, OtherArchitecturesAreRefusedWithAHint) {
  const auto why = [](const std::string& name) {
    Json keys = Json::Object{};
    keys.set("general.architecture", name);
    if (name == "deepseek4") keys.set("deepseek4.engram.layer_ids", 1);
    return refusal(keys);
  };
  EXPECT_SAYS(why("llama"), "general.architecture is \"llama\"; this program runs DeepSeek-V4.1");
  EXPECT_SAYS(why("deepseek4"), "a fork wrote this DeepSeek-V4.1 file under V4's name");
  EXPECT_SAYS(why("deepseek41-dspark"), "the draft model alone");
  EXPECT_SAYS(refusal(Json::Object{}), "general.architecture is missing");
  Json number = Json::Object{};
  number.set("general.architecture", 3);
  EXPECT_SAYS(refusal(number), "general.architecture is an integer, not a text");
}

// A small block of constants, sound by itself.
Json mini() {
  Json keys = Json::Object{};
  keys = with(keys, "engram.head_count", 2);
  keys = with(keys, "engram.max_ngram_size", 2);
  keys = with(keys, "engram.layer_ids", json_list(std::vector{1}));
  keys = with(keys, "engram.primes", json_list(std::vector{67, 71}));
  keys = with(keys, "engram.offsets", json_list(std::vector{0, 67}));
  keys = with(keys, "engram.multipliers", json_list(std::vector{3, 5}));
  return with(keys, "engram.token_map", json_list(std::vector{0, 1, 2, 1}));
}

std::string engram_faults(const Json& keys) {
  Faults faults;
  GgufFields fields(keys, faults);
  read_gguf_engram(fields, 2, 4);
  return faults.empty() ? "sound" : faults.front();
}

TEST(GgufEngram, ConstantsMustFitEachOther) {
  EXPECT_EQ(engram_faults(mini()), "sound");
  EXPECT_SAYS(engram_faults(with(mini(), "engram.primes", json_list(std::vector{67, 0}))),
              "engram.primes[1]: 0");
  EXPECT_SAYS(engram_faults(with(mini(), "engram.primes", json_list(std::vector{67}))), "1 entries, must be");
  EXPECT_SAYS(engram_faults(with(mini(), "engram.offsets", json_list(std::vector{0, 68}))),
              "entry 1 is 68, the primes before it sum to 67");
  EXPECT_SAYS(engram_faults(with(mini(), "engram.multipliers", json_list(std::vector{3, 4}))), "must be odd");
  EXPECT_SAYS(engram_faults(with(mini(), "engram.token_map", json_list(std::vector{0, -1, 2, 1}))),
              "engram.token_map[1]: -1");
  EXPECT_SAYS(engram_faults(with(mini(), "engram.token_map", json_list(std::vector{0, 1}))),
              "vocabulary of 4");
  EXPECT_SAYS(engram_faults(with(mini(), "engram.layer_ids", json_list(std::vector{7}))),
              "engram.layer_ids[0]: 7");
  EXPECT_SAYS(engram_faults(with(mini(), "engram.encoding", "lloyd4_e5m3_32_r136")), "is not supported");
}

TEST(GgufEngram, ConstantsMustBeTheModels) {
  const Json keys = own_keys(release());
  Json primes = *keys.find("deepseek41.engram.primes"),
       multipliers = *keys.find("deepseek41.engram.multipliers");
  EXPECT_EQ((*primes.array())[0].integer(), 16000057);
  EXPECT_EQ((*multipliers.array())[7].integer(), 82619226485591);
  (*multipliers.array())[5] = 51510806800917;
  EXPECT_SAYS(refusal(with(keys, "engram.multipliers", multipliers)),
              "engram.multipliers: entry 5 is 51510806800917, the model's numbers give 51510806800915");
  (*primes.array())[47] = 16000891;
  EXPECT_SAYS(refusal(without(with(keys, "engram.primes", primes), "offsets")), "entry 47 is 16000891");
}

}  // namespace
}  // namespace manyspan
