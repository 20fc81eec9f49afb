// recipe — what a matrix becomes in a container, so that no number changes; and the bytes of it, some rows at a time.
//
// Shapes     one recipe makes one plane: the codes, the scales beside them, or the factors
// Threads    pure
// Spec       quant_formats.md 4, 5
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "container/stored_type.h"
#include "spec/slots.h"
#include "tensor/weight.h"
#include "weights/weights.h"

namespace manyspan {

enum class Making : std::uint8_t {
  copy_codes,  // as they are
  copy_scales,
  numbers,       // decoded, then stored one by one as F32, BF16 or F16
  mxfp4_blocks,  // codes and scales of a row in ggml's blocks
  mxfp4_codes,   // and out of them
  mxfp4_scales,
  nvfp4_blocks,
  nvfp4_codes,
  nvfp4_scales,
  factors,     // one F32 for each matrix
  e4m3_codes,  // of rows or blocks that hold their own scales
  e8m0_scales,
  quantised,  // decoded, then rounded into blocks
};

// One plane of a matrix.
struct MadePlane {
  Making making;
  StoredType type;
  std::string suffix;  // of the tensor's name, in the place of "weight"; empty: the name as it is
  std::int64_t row;    // elements
};

enum class Target : std::uint8_t { gguf, safetensors };

// The planes that hold every number of such a matrix.
// Errors: unsupported, where the container has nothing for it. Messages name no tensor
Result<std::vector<MadePlane>> lossless_planes(const Slot& slot, const MatrixSource& matrix, Target target);

// Bytes of a row of the plane.
std::int64_t row_bytes(const MadePlane& plane);

// `rows.rows` rows of the plane from a plain matrix of them.
// Errors: unsupported, where a number does not fit; the message names the row, counted from `first`, the first of these
Result<void> make_rows(const MadePlane& plane, const Weight& rows, std::int64_t first,
                       std::span<std::byte> out);

}  // namespace manyspan
