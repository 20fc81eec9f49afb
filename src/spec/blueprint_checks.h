// blueprint_checks — the bounds of a blueprint's numbers, and whether they fit each other.
//
// The bounds keep a hostile config from making anything large: no count here lets what follows allocate more
// than a few MiB before the checkpoint's own size confirms it.
//
// Spec       model.md 1, 3, 6.4
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "spec/blueprint.h"

namespace manyspan {

inline constexpr std::int32_t kMostLayers = 1024;
inline constexpr std::int32_t kMostTokens = 1 << 22;
inline constexpr std::int32_t kMostRatio = 8;
inline constexpr std::int64_t kMostContext = std::int64_t{1} << 24;  // positions stay exact in a float
inline constexpr std::int64_t kMostTableRows = std::int64_t{1} << 40;
inline constexpr std::int32_t kMostExperts = 1 << 18;  // of all layers together
inline constexpr std::size_t kMostEngramLayers = 64;

// Keys that start so belong to the model: an unknown one changes what it computes.
inline constexpr std::string_view kOwnedPrefixes[] = {"engram_", "dspark_", "candidate_", "hc_",
                                                      "index_",  "kv_",     "compress_"};

// Appends every disagreement. `ratios`: all compress_ratios, the draft stages' included. Requires numbers
// within their own bounds.
void check_blueprint(const Blueprint& blueprint, const std::vector<std::int32_t>& ratios,
                     std::vector<std::string>& faults);

}  // namespace manyspan
