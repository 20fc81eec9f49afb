// JsonEvents — JSON read as a run of events, for texts too large or too hostile to be kept as values.
//
// The door keeps the rules of json.h (strictness, depth, duplicate keys). An event that fails stops the
// reading; its error is given back behind the line and column.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace manyspan {

class JsonEvents {
 public:
  virtual ~JsonEvents() = default;
  virtual Result<void> scalar(Json value) = 0;  // neither array nor object
  virtual Result<void> begin_object() = 0;
  virtual Result<void> key(std::string key) = 0;
  virtual Result<void> end_object() = 0;
  virtual Result<void> begin_array() = 0;
  virtual Result<void> end_array() = 0;
};

// With DuplicateKeys::last_wins a repeated key is simply reported again.
Result<void> read_json(std::string_view text, const JsonLimits& limits, JsonEvents& events);

}  // namespace manyspan
