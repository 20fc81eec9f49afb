// rope_frequencies — the angles per position of the rotated pairs.
//
//   f_i = 1 / base^(2i/dims);  with YaRN, blended with f_i / factor by the ramp between the two corrected dimensions
//
// Numerics   pow in double → f32, then f32 op by op, as the oracle does
// Spec       model.md 5
#pragma once

#include <vector>

#include "spec/blueprint.h"

namespace manyspan {

std::vector<float> window_frequencies(const Blueprint& blueprint);      // of layers with ratio 0
std::vector<float> compressed_frequencies(const Blueprint& blueprint);  // of all others

}  // namespace manyspan
