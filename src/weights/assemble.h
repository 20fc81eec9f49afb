// assemble — container × names × slots → Weights, or the list of everything that is missing or wrong.
//
// Errors     corrupt, unsupported: all faults in one message, the first few of each kind named and all
//            counted; a fault that stands alone begins with its file and tensor · invalid when cancelled
// Cost       names only where `scan` is off; else one read of all that may hold a NaN or an infinity (all but
//            4-bit codes), Engram's tables left out: 18 GB of scales, 7 GB of FP8 codes and 3 GB of floats for
//            the released model
// Spec       containers.md A.2 rule 11, A.4, A.5
#pragma once

#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"
#include "container/container.h"
#include "spec/blueprint.h"
#include "weights/weights.h"

namespace manyspan {

struct AssembleOptions {
  bool scan = true;  // look for numbers that are not finite
  const Cancel* cancel = nullptr;
  std::vector<std::string>* faults = nullptr;  // takes every fault apart, each with its file and tensor
};

// The container must outlive the weights.
Result<Weights> assemble(const Container& container, const Blueprint& blueprint,
                         const AssembleOptions& options = {});

}  // namespace manyspan
