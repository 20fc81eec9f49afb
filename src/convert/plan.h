// plan — every tensor of the result, in order: its name, type and size, and the matrices and recipe it comes from.
//
// Owns       nothing of the weights, which must outlive it
// Errors     unsupported: a matrix that the container has nothing for, with its place
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "container/safetensors_write.h"
#include "convert/convert.h"
#include "convert/recipe.h"
#include "weights/weights.h"

namespace manyspan {

struct PlannedTensor {
  TensorOutline outline;
  MadePlane plane;
  std::vector<const MatrixSource*> matrices;  // one after the other
  std::int64_t rows;                          // of the plane, of each matrix

  std::uint64_t matrix_bytes() const { return outline.bytes / matrices.size(); }
};

struct ConvertPlan {
  std::vector<PlannedTensor> tensors;
  std::vector<ConvertedKind> kinds;
  std::vector<std::string> notes;
};

Result<ConvertPlan> plan_tensors(const Weights& weights, Target target, std::optional<StoredType> quantize);

}  // namespace manyspan
