// scales_alone — whether FP8 tensors have scales beside them, of a shape that some encoding has, where no configuration says
// which one.
//
// Threads    pure
// Spec       containers.md A.2 rule 11; quant_formats.md 4
#pragma once

#include <string>
#include <vector>

#include "container/container.h"

namespace manyspan {

// A sentence for each F8_E4M3 matrix "X.weight" whose scale is missing or of no such shape, with its file and tensor.
std::vector<std::string> faults_of_scales(const Container& container);

}  // namespace manyspan
