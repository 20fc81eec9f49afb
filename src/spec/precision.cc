#include "spec/precision.h"

namespace manyspan {
namespace {

constexpr EncodingSet kFloats{Encoding::f32, Encoding::f16, Encoding::bf16};
// The streams' mix is applied twice a layer: at BF16 its error is a thousand times that of F32.
constexpr EncodingSet kFinest{Encoding::f32, Encoding::f16};
constexpr EncodingSet kFp8{Encoding::fp8_block32, Encoding::fp8_block128, Encoding::fp8_block128_f32};
constexpr EncodingSet kRowScaled{Encoding::mxfp8, Encoding::mxfp4, Encoding::nvfp4};
// Blocks of at least 4 bits a number, scales not counted.
constexpr EncodingSet kFourBits{Encoding::q4_0,     Encoding::q8_0,       Encoding::q4_k,
                                Encoding::q5_k,     Encoding::q6_k,       Encoding::iq4_nl,
                                Encoding::iq4_xs,   Encoding::mxfp4_ggml, Encoding::nvfp4_ggml,
                                Encoding::fp8_b128, Encoding::mxfp8_b256};
constexpr EncodingSet kFewerBits{Encoding::q2_k, Encoding::q3_k, Encoding::iq2_xxs, Encoding::iq3_xxs,
                                 Encoding::iq3_s};
constexpr EncodingSet kBlocks = kFourBits | kFewerBits;
// What the release stores as floats decides what is read at all, and no copy of it has FP8 there.
constexpr EncodingSet kChoosing = kFloats | kRowScaled | kBlocks;
constexpr EncodingSet kAny = kFloats | kFp8 | kRowScaled | kBlocks;
// Rows are read one by one: no scales that rows share.
constexpr EncodingSet kTable = kFloats | kRowScaled | kBlocks | EncodingSet{Encoding::row264};

enum class Kind { mix, choosing, fixed, embedding, table, expert, dense };

Kind kind_of(Role role) {
  switch (role) {
    case Role::attention_mix_fn:
    case Role::expert_mix_fn:
      return Kind::mix;
    case Role::compress_kv:
    case Role::compress_gate:
    case Role::index_key:
    case Role::index_head_weights:
      return Kind::choosing;
    case Role::norm:
    case Role::attention_norm:
    case Role::expert_norm:
    case Role::attention_mix_base:
    case Role::attention_mix_scale:
    case Role::expert_mix_base:
    case Role::expert_mix_scale:
    case Role::sink:
    case Role::q_norm:
    case Role::kv_norm:
    case Role::compress_norm:
    case Role::index_key_norm:
    case Role::gate:
    case Role::gate_bias:
    case Role::gate_bias_images:
    case Role::engram_q_gain:
    case Role::engram_k_gain:
      return Kind::fixed;
    case Role::embed:
      return Kind::embedding;
    case Role::engram_table:
      return Kind::table;
    case Role::expert_w1:
    case Role::expert_w2:
    case Role::expert_w3:
      return Kind::expert;
    default:
      return Kind::dense;
  }
}

}  // namespace

EncodingSet allowed_encodings(Role role) {
  switch (kind_of(role)) {
    case Kind::mix:
      return kFinest;
    case Kind::choosing:
      return kChoosing;
    case Kind::fixed:
      return kFloats;
    case Kind::embedding:
      return kFloats | kRowScaled | kFourBits;
    case Kind::table:
      return kTable;
    case Kind::expert:
    case Kind::dense:
      break;
  }
  return kAny;
}

double bits_a_number(Encoding e) {
  return is_blocks(e) ? 8.0 * block_bytes(e) / block_cols(e) : code_bits(e);
}

std::string_view concern(Role role, Encoding e) {
  const double bits = bits_a_number(e);
  switch (kind_of(role)) {
    case Kind::mix:
      if (e != Encoding::f32) return "its rounding enters every stream twice a layer";
      break;
    case Kind::choosing:
      if (bits < 16) return "which rows are read depends on it, and rounding changes the choice";
      break;
    case Kind::embedding:
      if (bits < 5) return "every token begins with its rounding";
      break;
    case Kind::table:
      if (bits < 5) return "what Engram recalls is rounded";
      break;
    case Kind::expert:
      if (bits < 3) return "answers are worse than the model's own";
      break;
    case Kind::dense:
      if (bits < 4) return "every token passes through it, and answers are worse than the model's own";
      break;
    case Kind::fixed:
      break;
  }
  return {};
}

}  // namespace manyspan
