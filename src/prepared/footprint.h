// footprint — how many bytes the weights of each layer will take, and how many of them a token reads.
//
// What prepare() would put on a device, to the byte, from shapes and encodings alone. Of the experts a token
// reads those that are picked, of the embedding one row.
//
// Requires   a Blueprint that read_blueprint returned; weights of it
// Threads    pure functions
// Spec       model.md 2
#pragma once

#include <cstdint>
#include <vector>

#include "prepared/placement.h"
#include "spec/blueprint.h"
#include "spec/slots.h"
#include "tensor/weight.h"
#include "weights/weights.h"

namespace manyspan {

struct WeightBytes {
  std::int64_t held = 0, read = 0;  // on the device; of them, by one token

  WeightBytes& operator+=(const WeightBytes& more);
};

struct Footprint {
  std::vector<WeightBytes> layers;
  WeightBytes first, last;                     // with the first layer the embedding; with the last the head
  WeightBytes each;                            // on every device
  std::int64_t engram_tables = 0;              // in the host's files; no device holds them
  std::vector<std::int64_t> engram_row_bytes;  // of each Engram layer's table, as rows travel to a device

  WeightBytes of(const StageLayers& stage) const;
};

// How the files that config.json describes store a slot, where nobody has looked at them.
Encoding implied_encoding(const Slot& slot, const Quantization& quantization);

// For tables that read matrices in `tiling`. `weights` null: encodings as config.json implies them.
Footprint footprint(const Blueprint& blueprint, Tiling tiling, const Weights* weights = nullptr);

}  // namespace manyspan
