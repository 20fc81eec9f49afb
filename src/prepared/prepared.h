// Prepared — the weights of some layers in the layout of one table, in the memory of one device.
//
// It knows layouts and no names: what a checkpoint calls a tensor ends in `weights`.
//
// Owns       the arranged bytes. The Engram tables stay where the checkpoint has them: rows are read when
//            asked
// Threads    immutable once made; reads from any thread
// Spec       model.md 2; house.md 6.1
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"
#include "device/host_device.h"
#include "kernels/rope/rope.h"
#include "kernels/table.h"
#include "prepared/placement.h"
#include "spec/blueprint.h"
#include "weights/weights.h"

namespace manyspan {

struct MixWeights {
  Weight fn;
  const float* base;
  const float* scale;
};

struct PreparedLayer {
  MixWeights attention_mix, expert_mix;
  const Bf16* attention_norm;
  const Bf16* expert_norm;

  Weight wq_a, wq_b, wkv, wo_b;
  std::vector<Weight> wo_a;  // one for each output group
  const Bf16* q_norm;
  const Bf16* kv_norm;
  const float* sink;

  // KV sources; codes null elsewhere. compress_gate only where the ratio is above 1.
  Weight compress_kv, compress_gate, index_key;
  const Bf16* compress_norm;
  const Bf16* index_key_norm;

  // Index sources; codes null elsewhere.
  Weight index_q, index_head_weights;

  Weight gate;
  const float* gate_bias;
  const float* gate_bias_images;  // null: the checkpoint has none
  // Where w1 and w3 are stored in different encodings, gate_up is w1 and up w3; up has no rows elsewhere.
  Weight gate_up, up, down, shared_gate_up, shared_up, shared_down;

  // Engram layers; codes null elsewhere.
  Weight engram_kv;
  Encoding engram_encoding;  // of the table, whose rows are gathered and travel as they are stored
  const Bf16* engram_q_gain;
  const Bf16* engram_k_gain;
};

struct Prepared {
  Weight embed;  // with the first layer; codes null elsewhere
  Weight head;   // with the last
  const Bf16* norm;
  std::vector<PreparedLayer> layers;           // one for each of the model; empty where it lies elsewhere
  kernels::Rope window_rope, compressed_rope;  // spec 5: of layers with ratio 0, and of the others

  std::vector<Buffer> storage;
  std::int64_t bytes = 0;  // of storage
};

// What a long load tells its caller, now and then, from the loading thread.
struct LoadProgress {
  std::int64_t done_bytes, total_bytes;
};

// Bytes of the checkpoint that prepare() reads for these layers.
std::int64_t bytes_to_read(const Weights& weights, const Blueprint& blueprint, const StageLayers& layers);

// Rewrites the weights of `layers` into `table`'s layout, layer by layer, and puts them on `device`. Every number is
// checked on the way. Files of over a quarter of the machine's memory leave the system's cache as they are read.
// Errors: corrupt: a file that became shorter or cannot be read, a number that is not finite; with file and tensor ·
// unsupported, with the tensor's name · exhausted · invalid when cancelled
Result<std::unique_ptr<Prepared>> prepare(const Weights& weights, const Blueprint& blueprint,
                                          const StageLayers& layers, Device& device, HostDevice& host,
                                          const kernels::Table& table, const Cancel* cancel = nullptr,
                                          const std::function<void(const LoadProgress&)>& progress = {});

}  // namespace manyspan
