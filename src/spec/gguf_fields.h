// GgufFields — a GGUF's keys of the model, read by any of their spellings; every fault is noted, and so is every key
// never read.
//
// Requires   the metadata, an object, and `faults` outlive it
// Threads    one
// Spec       containers.md B.4
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "spec/config_fields.h"

namespace manyspan {

inline constexpr std::string_view kGgufModel = "deepseek41.";

// Whether two values say the same: numbers are compared as F32 holds them, unless both are integers.
bool says_same(const Json& a, const Json& b);

class GgufFields {
 public:
  using Spellings = std::initializer_list<std::string_view>;  // after "deepseek41."

  GgufFields(const Json& metadata, Faults& faults);

  // Null where no spelling is there. A fault, where two are and disagree.
  const Json* find(Spellings spellings);
  const Json* find(std::string_view key) { return find({key}); }

  // None where the key is missing or its value unfit, which is a fault.
  std::optional<std::int64_t> integer(Spellings spellings, Between<std::int64_t> range);
  // Every entry in `range`, at most `most`.
  std::optional<std::vector<std::int64_t>> integers(Spellings spellings, std::size_t most,
                                                    Between<std::int64_t> range);

  // "deepseek41.KEY: WHAT".
  void fault(std::string_view key, const std::string& what);

  // A key outside the model's own: "tokenizer.ggml.bos_token_id".
  const Json* outside(std::string_view key) const;

  // The model's keys that were never asked for, in order.
  std::vector<std::string> unread() const;

 private:
  std::string_view spelled(Spellings spellings) const;  // the first that is there, else the first
  bool fits(std::string_view key, const Json& value, Between<std::int64_t> range, std::int64_t& out);

  std::map<std::string_view, const Json*> values_;  // by whole key
  Faults& faults_;
  std::set<std::string, std::less<>> read_;
};

}  // namespace manyspan
