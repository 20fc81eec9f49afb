// slots — every weight that the model needs: what it is for, its shape, and how coarsely it may be stored.
//
// A slot, not the encoding found in a file, says whether a linear rounds its input onto the FP8 grid: a BF16
// copy of the checkpoint gives the official numbers. Experts of a layer are one slot of many matrices.
//
// Requires   a Blueprint that read_blueprint returned
// Spec       model.md 2, 4.6; house.md 4.1
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "spec/blueprint.h"
#include "tensor/encoding.h"

namespace manyspan {

enum class Role : std::uint8_t {
  embed,
  head,
  norm,

  attention_norm,
  expert_norm,
  attention_mix_fn,
  attention_mix_base,
  attention_mix_scale,
  expert_mix_fn,
  expert_mix_base,
  expert_mix_scale,

  sink,
  wq_a,
  q_norm,
  wq_b,
  wkv,
  kv_norm,
  wo_a,
  wo_b,

  compress_kv,
  compress_gate,
  compress_norm,
  index_key,
  index_key_norm,
  index_q,
  index_head_weights,

  gate,
  gate_bias,
  gate_bias_images,
  shared_w1,
  shared_w2,
  shared_w3,
  expert_w1,
  expert_w2,
  expert_w3,

  engram_table,
  engram_kv,
  engram_q_gain,
  engram_k_gain,
};
inline constexpr int kRoles = static_cast<int>(Role::engram_k_gain) + 1;

// What a reader calls it: "query down", "expert gate".
std::string_view name(Role role);

enum class SlotKind : std::uint8_t {
  quantised_linear,  // its input goes through act8
  plain_linear,      // its input does not
  vector_f32,
  vector_bf16,
  row_scaled_table,
};

// What a model can do beyond text. A checkpoint may lack it and still serve text.
enum class Capability : std::uint8_t { text, images, vision, draft };
std::string_view name(Capability capability);

class EncodingSet {
 public:
  constexpr EncodingSet(std::initializer_list<Encoding> encodings) {
    for (const Encoding e : encodings) bits_ |= 1u << static_cast<unsigned>(e);
  }
  constexpr bool has(Encoding e) const { return (bits_ >> static_cast<unsigned>(e) & 1u) != 0; }
  constexpr EncodingSet operator|(EncodingSet other) const {
    other.bits_ |= bits_;
    return other;
  }

 private:
  std::uint32_t bits_ = 0;
};

struct Slot {
  Role role;
  LayerId layer{-1};          // -1: of the whole model
  std::int32_t matrices = 1;  // experts: one for each
  std::int64_t rows, cols;    // of each
  SlotKind kind;
  EncodingSet allowed;
  Capability capability = Capability::text;  // what is lost where it is missing; text: nothing works
};

std::vector<Slot> slots_of(const Blueprint& blueprint);

}  // namespace manyspan
