// WeightTraffic — which weights a token cannot do without, as the checkpoint stores them.
//
// Counted are the matrices and vectors of text: all of those that every token passes, of the experts those that are
// picked. Left out are KV rows and Engram rows, so what a token really reads is more.
#pragma once

#include <cstdint>

#include "spec/blueprint.h"
#include "weights/weights.h"

namespace manyspan::app {

struct WeightTraffic {
  std::int64_t token_bytes = 0;       // of one token by itself
  std::int64_t all_bytes = 0;         // of a step of many tokens, which picks every expert
  std::int64_t token_parameters = 0;  // each is one multiplication and one addition
};

WeightTraffic weight_traffic(const Weights& weights, const Blueprint& blueprint);

}  // namespace manyspan::app
