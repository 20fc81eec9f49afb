#include "weights/names_hf.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/check.h"

namespace manyspan {
namespace {

using namespace std::literals;

struct Name {
  Role role;
  std::string_view text;  // after "layers.N." where `layered`; '#' stands for the expert
  bool layered = true;
};

constexpr Name kNames[] = {
    {Role::embed, "embed.weight", false},
    {Role::head, "head.weight", false},
    {Role::norm, "norm.weight", false},
    {Role::attention_norm, "attn_norm.weight"},
    {Role::expert_norm, "ffn_norm.weight"},
    {Role::attention_mix_fn, "hc_attn_fn"},
    {Role::attention_mix_base, "hc_attn_base"},
    {Role::attention_mix_scale, "hc_attn_scale"},
    {Role::expert_mix_fn, "hc_ffn_fn"},
    {Role::expert_mix_base, "hc_ffn_base"},
    {Role::expert_mix_scale, "hc_ffn_scale"},
    {Role::sink, "attn.attn_sink"},
    {Role::wq_a, "attn.wq_a.weight"},
    {Role::q_norm, "attn.q_norm.weight"},
    {Role::wq_b, "attn.wq_b.weight"},
    {Role::wkv, "attn.wkv.weight"},
    {Role::kv_norm, "attn.kv_norm.weight"},
    {Role::wo_a, "attn.wo_a.weight"},
    {Role::wo_b, "attn.wo_b.weight"},
    {Role::compress_kv, "attn.compressor.wkv.weight"},
    {Role::compress_gate, "attn.compressor.wgate.weight"},
    {Role::compress_norm, "attn.compressor.norm.weight"},
    {Role::index_key, "attn.indexer.wk.weight"},
    {Role::index_key_norm, "attn.indexer.k_norm.weight"},
    {Role::index_q, "attn.indexer.wq_b.weight"},
    {Role::index_head_weights, "attn.indexer.weights_proj.weight"},
    {Role::gate, "ffn.gate.weight"},
    {Role::gate_bias, "ffn.gate.bias"},
    {Role::gate_bias_images, "ffn.gate.bias_vl"},
    {Role::shared_w1, "ffn.shared_experts.w1.weight"},
    {Role::shared_w2, "ffn.shared_experts.w2.weight"},
    {Role::shared_w3, "ffn.shared_experts.w3.weight"},
    {Role::expert_w1, "ffn.experts.#w1.weight"},
    {Role::expert_w2, "ffn.experts.#w2.weight"},
    {Role::expert_w3, "ffn.experts.#w3.weight"},
    {Role::engram_table, "engram.embed.weight"},
    {Role::engram_kv, "engram.wkv.weight"},
    {Role::engram_q_gain, "engram.q_weight"},
    {Role::engram_k_gain, "engram.k_weight"},
};
static_assert(std::size(kNames) == kRoles);

constexpr bool in_order() {
  for (int i = 0; i < kRoles; ++i) {
    if (static_cast<int>(kNames[i].role) != i) return false;
  }
  return true;
}
static_assert(in_order(), "the table is indexed by role");

// Longest first, so that the first that fits is the whole namespace.
constexpr std::string_view kNamespaces[] = {"language_model.model.", "language_model.", "model.", ""};

// Spellings of training code and of other engines' copies, each between dots.
struct Respelling {
  std::string_view other, official;
};
constexpr Respelling kRespellings[] = {
    {"embed_tokens", "embed"},
    {"lm_head", "head"},
    {"self_attn", "attn"},
    {"mlp", "ffn"},
    {"gate_proj", "w1"},
    {"up_proj", "w3"},
    {"down_proj", "w2"},
    {"switch_mlp", "experts"},
    {"e_score_correction_bias", "bias"},
    {"e_score_correction_bias_vl", "bias_vl"},
};

// Parts that stand outside the trunk; they keep their names.
constexpr std::string_view kVision[] = {"vision.", "aligner.", "image_"};

bool starts_with_one_of(std::string_view name, std::span<const std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view p) { return name.starts_with(p); });
}

}  // namespace

std::string hf_name(Role role, LayerId layer, std::int32_t expert) {
  const Name& name = kNames[static_cast<std::size_t>(role)];
  std::string text = name.layered ? "layers." + std::to_string(layer.value) + "." : "";
  const std::size_t hash = name.text.find('#');
  if (hash == std::string_view::npos) return text.append(name.text);
  text.append(name.text.substr(0, hash));
  if (expert >= 0) text += std::to_string(expert) + ".";
  return text.append(name.text.substr(hash + 1));
}

std::span<const std::string_view> hf_scale_suffixes() {
  static constexpr std::string_view kSuffixes[] = {".scale", ".scale_inv", ".weight_scale",
                                                   ".weight_scale_inv", ".scales"};
  return kSuffixes;
}

std::optional<std::string_view> hf_namespace(std::span<const std::string_view> names) {
  for (const std::string_view space : kNamespaces) {
    for (const std::string_view name : names) {
      if (!name.starts_with(space)) continue;
      const std::string_view rest = name.substr(space.size());
      if (rest == "embed.weight" || rest == "embed_tokens.weight") return space;
    }
  }
  return std::nullopt;
}

std::string hf_official(std::string_view name, std::string_view name_space) {
  for (const std::string_view space : kNamespaces) {
    // Of "language_model.model.", the head has only the first half.
    if (name_space.starts_with(space) && name.starts_with(space)) {
      name.remove_prefix(space.size());
      break;
    }
  }
  if (starts_with_one_of(name, kVision)) return std::string(name);
  std::string official;
  while (true) {
    const std::size_t dot = name.find('.');
    std::string_view word = name.substr(0, dot);
    for (const Respelling& r : kRespellings) {
      if (word == r.other) word = r.official;
    }
    official.append(word);
    if (dot == std::string_view::npos) return official;
    official += '.';
    name.remove_prefix(dot + 1);
  }
}

std::optional<Capability> hf_capability(std::string_view official) {
  if (official.starts_with("mtp.")) return Capability::draft;
  if (starts_with_one_of(official, kVision)) return Capability::vision;
  return std::nullopt;
}

bool hf_only_in_v4(std::string_view official) {
  constexpr std::string_view kParts[] = {"hc_head_",     "compressor.ape", "indexer.compressor.",
                                         "gate.tid2eid", ".enorm.",        ".hnorm.",
                                         ".e_proj.",     ".h_proj."};
  return std::any_of(std::begin(kParts), std::end(kParts),
                     [&](std::string_view part) { return official.find(part) != std::string_view::npos; });
}

}  // namespace manyspan
