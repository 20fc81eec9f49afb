// stored_encoding — which encoding the type of a matrix's codes, its scales and the config make.
//
// Spec       containers.md A.4, A.5, B.5; quant_formats.md 3, 4, 6
#pragma once

#include <cstdint>
#include <optional>

#include "container/container.h"
#include "spec/slots.h"

namespace manyspan {

struct StoredMatrix {
  const StoredTensor& codes;
  const StoredTensor* scales;  // null where there are none
  const Slot& slot;
  const Quantization& quantization;
  std::int32_t matrices = 1;  // in the one tensor
  bool gguf = false;
};

// Nothing where no matrix is stored so. F32 scales of blocks of 128x128 are taken for powers of two.
std::optional<Encoding> stored_encoding(const StoredMatrix& matrix);

// The encoding that a type in blocks is.
std::optional<Encoding> block_encoding(StoredType type);

// Rows and columns that share a scale of the plane beside the codes; 0: there is no such plane.
struct ScaleBlock {
  std::int64_t rows, cols;
};
ScaleBlock scale_block(Encoding encoding);

// Elements of the stored row that hold a row of `cols` codes.
std::int64_t stored_row(Encoding encoding, StoredType type, std::int64_t cols);

}  // namespace manyspan
