// ConfigFields — the keys of one JSON object, read with bounds; every fault is noted, and so is every key
// never read.
//
// A read that fails notes why and returns a value that is safe to go on with, so that one pass finds all
// faults.
//
// Requires   the object and `faults` outlive it
// Threads    one
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace manyspan {

using Faults = std::vector<std::string>;

template <class Number>
struct Between {
  Number least, most;
};

struct Spelling {
  std::string_view official, other;
};

class ConfigFields {
 public:
  // `place` is written before the keys in messages: "text_config.". `object` null: an empty one.
  ConfigFields(const Json* object, std::string place, Faults& faults,
               std::span<const Spelling> spellings = {})
      : object_(object), place_(std::move(place)), faults_(faults), spellings_(spellings) {}

  bool has(std::string_view key) const;  // and is not null

  // A missing or unfit value is a fault, unless there is `otherwise` to stand for a missing one.
  std::int64_t integer(std::string_view key, Between<std::int64_t> range,
                       std::optional<std::int64_t> otherwise = std::nullopt);
  std::int32_t int32(std::string_view key, Between<std::int64_t> range,
                     std::optional<std::int64_t> otherwise = std::nullopt) {
    return static_cast<std::int32_t>(integer(key, range, otherwise));
  }
  float number(std::string_view key, Between<double> range, std::optional<double> otherwise = std::nullopt);
  bool flag(std::string_view key, std::optional<bool> otherwise = std::nullopt);
  std::string text(std::string_view key, std::optional<std::string_view> otherwise = std::nullopt);

  // At most `most` entries, each in `range`.
  std::vector<std::int64_t> integers(std::string_view key, std::size_t most, Between<std::int64_t> range);
  std::vector<std::int32_t> int32s(std::string_view key, std::size_t most, Between<std::int64_t> range);

  // The object under `key`, or null.
  const Json* object(std::string_view key);

  // Notes a fault about `key`.
  void fault(std::string_view key, const std::string& what);
  // Known, and of no use here.
  void ignore(std::initializer_list<std::string_view> keys);

  // Keys that were never read, in the file's order.
  std::vector<std::string> unread() const;

  // Official names of keys that a fault was noted about.
  const std::set<std::string, std::less<>>& faulty() const { return faulty_; }

  const std::string& place() const { return place_; }

 private:
  const Json* take(std::string_view key, bool required);
  std::string_view spelled(std::string_view key) const;
  bool fits(std::string_view key, const Json& value, Between<std::int64_t> range, std::int64_t& out);

  const Json* object_;
  std::string place_;
  Faults& faults_;
  std::span<const Spelling> spellings_;
  std::set<std::string, std::less<>> read_, faulty_;
};

// A key of the file as a message may show it: no control characters, not too long.
std::string shown(std::string_view text);

}  // namespace manyspan
