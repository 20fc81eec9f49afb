// plain — a stored matrix as a Weight in the plain tiling, so that its numbers can be read.
//
// Owns       the scales where they are not the checkpoint's own bytes: F32 powers of two become E8M0, and the factor of
//            nvfp4 and nvfp4_ggml is repeated for each row. Codes stay the checkpoint's
// Requires   a matrix of read_matrices()
// Threads    pure
#pragma once

#include <cstddef>
#include <vector>

#include "tensor/weight.h"
#include "weights/weights.h"

namespace manyspan {

struct PlainMatrix {
  Weight weight;
  std::vector<std::byte> scales;  // what weight.scales points to, or empty
};

PlainMatrix plain_matrix(const MatrixSource& source);

}  // namespace manyspan
