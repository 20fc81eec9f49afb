// Scratch — every temporary of a step, by name, sized once from blueprint and limits.
//
// Owns       one buffer, carved; views stay valid as long as it does
// Spec       interfaces.md A10, A12
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "kernels/table.h"
#include "model/carry.h"
#include "model/limits.h"
#include "prepared/placement.h"
#include "spec/blueprint.h"

namespace manyspan {

// How a sublayer reads the streams and writes back.
struct MixRows {
  Rows<float> pre, post, comb;
};

struct Scratch {
  Carry carry;
  Rows<float>
      entry_pre;  // [T, S] the mix that the first layer of a visit starts with; carry.pre moves on from it
  MixRows attention_mix, expert_mix;
  Rows<Bf16> x, x8, o;  // [T, D] a sublayer's input, the same on the FP8 grid, its output
  Rows<Bf16> qr, q, k, heads, groups;
  Rows<float> a, g;  // [T, head_dim] the compressor's inputs, ratio above 1
  Rows<Bf16> row;    // [T, head_dim] ratio 1
  Rows<Bf16> index_q, index_w;
  Rows<float> gate;  // [T, experts] logits
  kernels::Routes routes;
  // Of each Engram layer, [T, ...]: rows as the tables hold them; no data where the layer is elsewhere.
  std::vector<Rows<std::uint8_t>> packed;
  Rows<Bf16> engram_e, engram_kv;
  // The sampled rows, with the last layer.
  Rows<Bf16> last_streams;
  Rows<float> last_pre;
  Rows<Bf16> z;        // [R, D] after the final norm
  Rows<float> logits;  // [R, V]

  std::size_t bytes = 0;

  // What `layers` need; of the KV sources in `published`, by their layers, new rows are sent or received.
  struct Wanted {
    StageLayers layers;
    std::set<std::int32_t> published;
    std::vector<std::int64_t> engram_row_bytes;  // of each Engram layer's table, as rows travel
  };
  // Views with null data, for planning.
  static Scratch shapes(const Blueprint& blueprint, const Wanted& wanted, const Limits& limits);
  // The same views over `memory`, which has at least `bytes`.
  static Scratch carve(const Blueprint& blueprint, const Wanted& wanted, const Limits& limits,
                       std::byte* memory);
};

}  // namespace manyspan
