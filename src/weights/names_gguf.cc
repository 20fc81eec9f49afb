#include "weights/names_gguf.h"

#include <charconv>
#include <iterator>
#include <optional>

#include "weights/names_hf.h"

namespace manyspan {
namespace {

struct Name {
  Role role;
  std::string_view text;     // after "blk.N." where the role is a layer's
  std::string_view other{};  // of the second family
};

constexpr Name kNames[] = {
    {Role::embed, "token_embd.weight"},
    {Role::head, "output.weight"},
    {Role::norm, "output_norm.weight"},
    {Role::attention_norm, "attn_norm.weight"},
    {Role::expert_norm, "ffn_norm.weight"},
    {Role::attention_mix_fn, "hc_attn_fn.weight"},
    {Role::attention_mix_base, "hc_attn_base.weight"},
    {Role::attention_mix_scale, "hc_attn_scale.weight"},
    {Role::expert_mix_fn, "hc_ffn_fn.weight"},
    {Role::expert_mix_base, "hc_ffn_base.weight"},
    {Role::expert_mix_scale, "hc_ffn_scale.weight"},
    {Role::sink, "attn_sinks.weight"},
    {Role::wq_a, "attn_q_a.weight"},
    {Role::q_norm, "attn_q_a_norm.weight"},
    {Role::wq_b, "attn_q_b.weight"},
    {Role::wkv, "attn_kv.weight"},
    {Role::kv_norm, "attn_kv_a_norm.weight"},
    {Role::wo_a, "attn_output_a.weight"},
    {Role::wo_b, "attn_output_b.weight"},
    {Role::compress_kv, "attn_compressor_kv.weight"},
    {Role::compress_gate, "attn_compressor_gate.weight"},
    {Role::compress_norm, "attn_compressor_norm.weight"},
    {Role::index_key, "indexer.attn_k.weight"},
    {Role::index_key_norm, "indexer.k_norm.weight"},
    {Role::index_q, "indexer.attn_q_b.weight"},
    {Role::index_head_weights, "indexer.proj.weight"},
    {Role::gate, "ffn_gate_inp.weight"},
    {Role::gate_bias, "exp_probs_b.bias"},
    {Role::gate_bias_images, "exp_probs_b_vl.bias"},
    {Role::shared_w1, "ffn_gate_shexp.weight"},
    {Role::shared_w2, "ffn_down_shexp.weight"},
    {Role::shared_w3, "ffn_up_shexp.weight"},
    {Role::expert_w1, "ffn_gate_exps.weight"},
    {Role::expert_w2, "ffn_down_exps.weight"},
    {Role::expert_w3, "ffn_up_exps.weight"},
    {Role::engram_table, "engram_embd.weight"},
    {Role::engram_kv, "engram_wkv.weight", "engram_kv.weight"},
    {Role::engram_q_gain, "engram_q.weight", "engram_q_norm.weight"},
    {Role::engram_k_gain, "engram_k.weight", "engram_k_norm.weight"},
};
static_assert(std::size(kNames) == kRoles);

constexpr bool in_order() {
  for (int i = 0; i < kRoles; ++i) {
    if (static_cast<int>(kNames[i].role) != i) return false;
  }
  return true;
}
static_assert(in_order(), "the table is indexed by role");

constexpr std::string_view kBlock = "blk.", kDraft = "mtp.", kLayer = "layers.", kWeight = ".weight";

constexpr bool of_the_whole_model(Role role) {
  return role == Role::embed || role == Role::head || role == Role::norm;
}

std::optional<Role> role_of(std::string_view text, bool layered) {
  for (const Name& name : kNames) {
    if (of_the_whole_model(name.role) == layered) continue;
    if (name.text == text || (!name.other.empty() && name.other == text)) return name.role;
  }
  return std::nullopt;
}

// Of "X.weight", or of the scales beside it: "X.scale", "X.input_scale".
std::optional<std::string> official_of(std::string_view text, bool layered, std::int32_t layer) {
  if (const auto role = role_of(text, layered)) return hf_name(*role, LayerId{layer});
  for (const std::string_view suffix : {".scale", ".input_scale"}) {
    if (!text.ends_with(suffix)) continue;
    const std::string stem(text.substr(0, text.size() - suffix.size()));
    const auto role = role_of(stem + std::string(kWeight), layered);
    if (!role) continue;
    std::string name = hf_name(*role, LayerId{layer});
    if (name.ends_with(kWeight)) name.resize(name.size() - kWeight.size());
    return name.append(suffix);
  }
  return std::nullopt;
}

struct Numbered {
  std::int32_t number;
  std::string_view rest;
};

// Of "blk.12.rest", with `prefix` "blk.".
std::optional<Numbered> numbered(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  Numbered n{};
  const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), n.number);
  const auto digits = static_cast<std::size_t>(end - name.data());
  const bool plain = digits == 1 || (digits > 1 && name[0] != '0');
  if (fault != std::errc{} || n.number < 0 || !plain || digits >= name.size() || name[digits] != '.')
    return std::nullopt;
  n.rest = name.substr(digits + 1);
  return n;
}

std::string in_draft(std::int32_t stage, std::string_view rest) {
  std::string official(kDraft);
  official += std::to_string(stage) + ".";
  const auto known = official_of(rest, true, 0);
  return official.append(known ? known->substr(kLayer.size() + 2) : std::string(rest));
}

// Of a draft model's file by itself.
constexpr std::string_view kDraftAlone[] = {"fc.", "enc.", "markov_w1.", "markov_w2.", "conf_proj."};

}  // namespace

std::string gguf_name(Role role, LayerId layer) {
  const std::string_view text = kNames[static_cast<std::size_t>(role)].text;
  if (of_the_whole_model(role)) return std::string(text);
  return (std::string(kBlock) + std::to_string(layer.value) + ".").append(text);
}

std::string gguf_official(std::string_view name, std::int32_t layers) {
  if (const auto block = numbered(name, kBlock)) {
    if (block->number >= layers) return in_draft(block->number - layers, block->rest);
    return official_of(block->rest, true, block->number).value_or(std::string(name));
  }
  if (const auto stage = numbered(name, kDraft)) return in_draft(stage->number, stage->rest);
  if (const auto whole = official_of(name, false, -1)) return *whole;
  for (const std::string_view part : kDraftAlone) {
    if (name.starts_with(part)) return std::string(kDraft).append(name);
  }
  if (name.starts_with("v.")) return "vision." + std::string(name.substr(2));
  if (name.starts_with("mm.")) return "aligner." + std::string(name.substr(3));
  return std::string(name);
}

}  // namespace manyspan
