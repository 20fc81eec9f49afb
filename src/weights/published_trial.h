// published_trial — for tests: the types that published GGUF files have for each role, and small files of such types.
//
// Spec       containers.md B.6
#pragma once

#include <bit>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "spec/slots.h"
#include "tensor/bf16.h"
#include "weights/block_trial.h"
#include "weights/names_gguf.h"
#include "weights/stored_encoding.h"
#include "weights/tiny_gguf.h"

namespace manyspan {

using T = StoredType;

// Kinds of roles that files treat alike.
enum class Part { experts_in, expert_down, attention, shared_in, shared_down, index_q, other_float, rest };

inline Part part_of(Role role) {
  switch (role) {
    case Role::expert_w1:
    case Role::expert_w3:
      return Part::experts_in;
    case Role::expert_w2:
      return Part::expert_down;
    case Role::wq_a:
    case Role::wq_b:
    case Role::wkv:
    case Role::wo_a:
    case Role::wo_b:
      return Part::attention;
    case Role::shared_w1:
    case Role::shared_w3:
      return Part::shared_in;
    case Role::shared_w2:
      return Part::shared_down;
    case Role::index_q:
      return Part::index_q;
    case Role::compress_kv:
    case Role::compress_gate:
    case Role::index_key:
    case Role::index_head_weights:
      return Part::other_float;
    default:
      return Part::rest;
  }
}

struct PublishedFile {
  const char* name;
  T experts_in, expert_down, attention, shared_in, shared_down, index_q;
  T embed, head, table, engram_kv, engram_gains;
  T mix, router, other_float;  // compressors and what else the release has as BF16

  T type(Role role) const {
    switch (part_of(role)) {
      case Part::experts_in:
        return experts_in;
      case Part::expert_down:
        return expert_down;
      case Part::attention:
        return attention;
      case Part::shared_in:
        return shared_in;
      case Part::shared_down:
        return shared_down;
      case Part::index_q:
        return index_q;
      case Part::other_float:
        return other_float;
      case Part::rest:
        break;
    }
    if (role == Role::embed) return embed;
    if (role == Role::head) return head;
    if (role == Role::engram_table) return table;
    if (role == Role::engram_kv) return engram_kv;
    if (role == Role::engram_q_gain || role == Role::engram_k_gain) return engram_gains;
    if (role == Role::attention_mix_fn || role == Role::expert_mix_fn) return mix;
    return role == Role::gate ? router : T::f32;
  }
};

// A table of type I8 is rows of codes and scales, row264.
inline constexpr PublishedFile kPublished[] = {
    {"smalinin MXFP4", T::mxfp4_ggml, T::mxfp4_ggml, T::q8_0, T::q8_0, T::q8_0, T::q8_0, T::bf16, T::bf16,
     T::q8_0, T::q8_0, T::bf16, T::f32, T::bf16, T::bf16},
    {"smalinin Q2_K-Q5", T::q2_k, T::q3_k, T::q4_k, T::q4_k, T::q5_k, T::q5_k, T::q4_k, T::q6_k, T::q5_k,
     T::q5_k, T::bf16, T::f32, T::bf16, T::bf16},
    {"smalinin IQ2_XXS", T::iq2_xxs, T::q2_k, T::q8_0, T::q8_0, T::q8_0, T::q8_0, T::bf16, T::q8_0, T::q8_0,
     T::q8_0, T::bf16, T::f32, T::bf16, T::bf16},
    {"smalinin Protected Q2_K", T::q2_k, T::q3_k, T::q6_k, T::q5_k, T::q6_k, T::q8_0, T::bf16, T::q6_k,
     T::q8_0, T::q6_k, T::bf16, T::f32, T::bf16, T::bf16},
    {"smalinin IQ3_XS", T::iq3_xxs, T::iq3_s, T::iq4_xs, T::iq3_s, T::q4_k, T::iq4_nl, T::q5_k, T::q6_k,
     T::q8_0, T::q4_0, T::bf16, T::f32, T::bf16, T::bf16},
    {"antirez Q2", T::iq2_xxs, T::q2_k, T::q8_0, T::q8_0, T::q8_0, T::f16, T::f16, T::q8_0, T::i8, T::f16,
     T::f32, T::f16, T::f32, T::f16},
    {"antirez Q2, attention Q4_K", T::iq2_xxs, T::q2_k, T::q4_k, T::q8_0, T::q8_0, T::f16, T::f16, T::q8_0,
     T::i8, T::f16, T::f32, T::f16, T::f32, T::f16},
    {"antirez Q4", T::q4_k, T::q4_k, T::q8_0, T::q8_0, T::q8_0, T::f16, T::f16, T::q8_0, T::i8, T::f16,
     T::f32, T::f16, T::f32, T::f16},
    {"vcruz Q2_K", T::q2_k, T::q3_k, T::q2_k, T::q2_k, T::q3_k, T::q2_k, T::q4_k, T::q6_k, T::q2_k, T::q3_k,
     T::f32, T::f32, T::f32, T::q3_k},
    {"vcruz Q3_K_M", T::q3_k, T::q4_k, T::q3_k, T::q3_k, T::q5_k, T::q3_k, T::q4_k, T::q6_k, T::q3_k, T::q3_k,
     T::f32, T::f32, T::f32, T::q4_k},
    {"Unsloth UD-Q8_K_XL", T::mxfp4_ggml, T::mxfp4_ggml, T::bf16, T::bf16, T::bf16, T::bf16, T::bf16, T::bf16,
     T::mxfp8_b256, T::bf16, T::bf16, T::f32, T::f32, T::bf16},
    {"NVFP4 and FP8 blocks", T::nvfp4_ggml, T::nvfp4_ggml, T::fp8_b128, T::fp8_b128, T::fp8_b128,
     T::mxfp8_b256, T::q8_0, T::fp8_b128, T::mxfp4_ggml, T::fp8_b128, T::f16, T::f32, T::f16, T::f16},
};

// Numbers between -1/4 and 1/4, which BF16 holds.
inline void append_float(std::vector<std::byte>& data, T type, Scatter& scatter) {
  const Bf16 narrow = to_bf16((static_cast<float>(scatter.next() & 0xffu) - 127.5f) / 512.0f);
  const float number = to_float(narrow);
  const auto append = [&](auto bits) {
    std::byte bytes[sizeof bits];
    std::memcpy(bytes, &bits, sizeof bits);
    data.insert(data.end(), bytes, bytes + sizeof bits);
  };
  if (type == T::f32) return append(number);
  if (type == T::bf16) return append(narrow);
  CHECK(type == T::f16, "a float");
  const auto bits = std::bit_cast<std::uint32_t>(number);  // no larger than 1/4, no smaller than 2^-10
  append(static_cast<std::uint16_t>((bits >> 16 & 0x8000u) | (((bits >> 23 & 0xffu) - 112) << 10) |
                                    (bits >> 13 & 0x3ffu)));
}

// One tensor of a file, its numbers as good as random.
inline OwnedTensor scattered(const Slot& slot, const std::string& name, T type, std::uint64_t seed) {
  OwnedTensor tensor{name, type, {}, {}};
  const bool vector = slot.kind == SlotKind::vector_f32 || slot.kind == SlotKind::vector_bf16;
  if (slot.matrices > 1) tensor.shape.push_back(slot.matrices);
  if (!vector || slot.rows > 1) tensor.shape.push_back(slot.rows);
  const bool row264 = slot.role == Role::engram_table && type == T::i8;
  tensor.shape.push_back(row264 ? 264 : slot.cols);
  Scatter scatter(seed);
  const std::int64_t numbers = slot.matrices * slot.rows * slot.cols;
  const auto e = row264 ? std::optional(Encoding::row264) : block_encoding(type);
  if (!e) {
    for (std::int64_t i = 0; i < numbers; ++i) append_float(tensor.data, type, scatter);
    return tensor;
  }
  for (std::int64_t i = 0; i < numbers / block_cols(*e); ++i) {
    const int power = e == Encoding::nvfp4_ggml ? -3 : -10 - static_cast<int>(scatter.next() % 3);
    const std::vector<std::byte> block = valid_block(*e, scatter, power);
    tensor.data.insert(tensor.data.end(), block.begin(), block.end());
  }
  return tensor;
}

inline std::vector<OwnedTensor> published(const Blueprint& blueprint, const PublishedFile& file) {
  std::vector<OwnedTensor> tensors;
  for (const Slot& slot : slots_of(blueprint)) {
    if (slot.capability != Capability::text) continue;
    tensors.push_back(
        scattered(slot, gguf_name(slot.role, slot.layer), file.type(slot.role), 1 + tensors.size()));
  }
  return tensors;
}

// config.json of a small model all of whose widths are whole blocks of 256.
inline constexpr const char* kWideConfig = R"({"model_type": "deepseek_v41", "text_config": {
  "vocab_size": 384, "hidden_size": 256, "moe_intermediate_size": 256, "num_hidden_layers": 6,
  "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 256, "qk_rope_head_dim": 16, "q_lora_rank": 256,
  "o_lora_rank": 128, "o_groups": 2, "hidden_act": "silu", "swiglu_limit": 1.5, "rms_norm_eps": 1e-20,
  "max_position_embeddings": 4096, "rope_theta": 10000, "rope_scaling": {"rope_type": "yarn", "factor": 4,
  "beta_fast": 32, "beta_slow": 1, "original_max_position_embeddings": 64}, "n_routed_experts": 4,
  "n_shared_experts": 1, "num_experts_per_tok": 2, "scoring_func": "sqrtsoftplus", "topk_method": "noaux_tc",
  "norm_topk_prob": true, "routed_scaling_factor": 1.5, "sliding_window": 8, "compress_ratios": [0, 0, 2, 2, 1, 1],
  "compress_rope_theta": 160000, "kv_source_layer_ids": [2, 4], "index_source_layer_ids": [2, 4],
  "index_n_heads": 4, "index_head_dim": 32, "index_topk": 6, "candidate_source_layer_id": 4,
  "candidate_topk_blocks": 3, "candidate_block_size": 4, "hc_mult": 4, "hc_sinkhorn_iters": 20, "hc_eps": 1e-06,
  "engram_layer_ids": [1, 3], "engram_num_embeddings": [304, 462], "engram_max_ngram_size": 4,
  "engram_vocab_size": 40, "engram_n_heads": 2, "engram_head_dim": 256, "engram_pad_token_id": 2,
  "engram_compressed_vocab_size": 150}})";

}  // namespace manyspan
