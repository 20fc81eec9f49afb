// dims — the few numbers that follow from the blueprint and are used while running.
#pragma once

#include <cmath>
#include <cstdint>

#include "spec/blueprint.h"

namespace manyspan {

// Table rows that one token looks up: one for each n-gram length and hash head.            spec 8.3
inline std::int32_t engram_columns(const Blueprint& b) { return (b.engram.max_ngram - 1) * b.engram.heads; }

inline float attention_scale(const Blueprint& b) {  // spec 6.5
  return static_cast<float>(std::pow(static_cast<double>(b.head_dim), -0.5));
}
inline float index_scale(const Blueprint& b) {  // spec 6.4
  return static_cast<float>(std::pow(static_cast<double>(b.index_dim), -0.5) *
                            std::pow(static_cast<double>(b.index_heads), -0.5));
}

}  // namespace manyspan
