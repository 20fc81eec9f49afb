// sampling_fields — how a request body asks for its answer to be sampled and ended.
//
// Specification: HTTP API, section 2. Only what the body holds is set; the defaults are the caller's.
//
// Errors     invalid, naming the key and what it may be
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace manyspan::text {

struct SamplingFields {
  std::optional<double> temperature;       // 0 or more
  std::optional<double> top_p;             // 0..1
  std::optional<double> min_p;             // 0..1
  std::optional<std::int64_t> top_k;       // 0 is off
  std::optional<std::int64_t> seed;        // 0 or more
  std::optional<std::int64_t> max_tokens;  // 1 or more
  std::optional<std::vector<std::string>> stop;
};

inline constexpr std::size_t kMostStops = 16;

Result<SamplingFields> read_sampling_fields(const Json& body);

}  // namespace manyspan::text
