// Scratch — every temporary of a step, by name, sized once from blueprint and limits.
//
// Owns       one buffer, carved; views stay valid as long as it does
// Spec       interfaces.md A10, A12
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "kernels/table.h"
#include "model/limits.h"
#include "spec/blueprint.h"

namespace manyspan {

// How a sublayer reads the streams and writes back.
struct MixRows {
  Rows<float> pre, post, comb;
};

// What crosses from one layer to the next: with stages on several devices, from one device to the next.
struct Carry {
  Rows<Bf16> streams;  // [T, S·D]
  Rows<float>
      pre;  // [T, S] with which the next layer's attention reads the streams; a view of its producer's rows
  kernels::Selection selection;
  kernels::Candidates candidates;
};

struct Scratch {
  Carry carry;
  Rows<float> first_pre;  // [T, S] the one-hot mix that layer 0 starts with
  MixRows attention_mix, expert_mix;
  Rows<Bf16> x, x8, o;  // [T, D] a sublayer's input, the same on the FP8 grid, its output
  Rows<Bf16> qr, q, k, heads, groups;
  Rows<float> a, g;  // [T, head_dim] the compressor's inputs, ratio above 1
  Rows<Bf16> row;    // [T, head_dim] ratio 1
  Rows<Bf16> index_q, index_w;
  Rows<float> gate;  // [T, experts] logits
  kernels::Routes routes;
  std::vector<Rows<std::uint8_t>> packed;  // of each Engram layer, [T, ...]: rows as the tables hold them
  Rows<Bf16> engram_e, engram_kv;
  // The sampled rows.
  Rows<Bf16> last_streams;
  Rows<float> last_pre;
  Rows<Bf16> z;        // [R, D] after the final norm
  Rows<float> logits;  // [R, V]

  std::size_t bytes = 0;

  // Views with null data, for planning.
  static Scratch shapes(const Blueprint& blueprint, const Limits& limits);
  // The same views over `memory`, which has at least `bytes`.
  static Scratch carve(const Blueprint& blueprint, const Limits& limits, std::byte* memory);
};

}  // namespace manyspan
