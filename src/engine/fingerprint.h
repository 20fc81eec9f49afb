// fingerprint — by which model and table a session was computed, so that no other goes on from it.
//
// Errors     corrupt: a file that became shorter or cannot be read
// Cost       reads a few cache lines of every tensor that is not an expert's
// Spec       docs/snapshot-format.md
#pragma once

#include <string_view>

#include "base/result.h"
#include "session/snapshot_format.h"
#include "spec/blueprint.h"
#include "weights/weights.h"

namespace manyspan {

// Over the numbers that change what is computed.
std::uint32_t sum_of_numbers(const Blueprint& blueprint);

// Over every slot's name, layer, shape and encoding, and both ends of its codes; of experts the first's and
// the last's. It tells models apart, and does not prove them equal.
Result<std::uint32_t> sum_of_weights(const Weights& weights);

Result<SnapshotOrigin> snapshot_origin(const Blueprint& blueprint, const Weights& weights,
                                       std::string_view table);

}  // namespace manyspan
