// Json — a JSON value, the strict reading of one, and two ways to write it.
//
// Objects keep the order of their members. Integers of any size stay exact; a number with '.', 'e' or 'E' is
// a double. Reading refuses what RFC 8259 does not allow (comments, NaN, trailing bytes, a byte order mark,
// bytes that are not UTF-8) and escaped lone surrogates.
//
// Errors     corrupt, with line and column (in bytes), for text that is not JSON or is past a limit
// Threads    a value is shared like any other: many readers or one writer
// Cost       find() is linear in the members; read a large object by walking it once
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace manyspan {

struct JsonMember;

class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<JsonMember>;
  enum class Kind { null, boolean, number, string, array, object };

  // Most are defined below, where what an object holds is known: not every compiler waits for that.
  Json() = default;  // null
  Json(std::nullptr_t);
  Json(bool value);
  template <std::signed_integral Integer>
  Json(Integer value);
  template <std::unsigned_integral Integer>
  Json(Integer value);
  Json(double value);
  Json(std::string value);
  Json(std::string_view value);
  Json(const char* value);
  Json(Array items);
  Json(Object members);

  // The integer that `digits` spells: an optional '-', then digits, without a leading zero. A minus before
  // zero is remembered only so that natural() can refuse it.
  static Json integer_of(std::string digits);

  Kind kind() const;
  std::string_view kind_name() const;  // "an object", for messages
  bool is_null() const { return kind() == Kind::null; }

  // Each gives nothing for a value of another kind.
  std::optional<bool> boolean() const;
  std::optional<std::int64_t> integer() const;   // an integer that fits
  std::optional<std::uint64_t> natural() const;  // an integer written without a sign, that fits
  std::optional<double> number() const;          // any number; an integer is rounded to the nearest double
  bool is_integer() const;                       // of any size
  const std::string* string() const { return std::get_if<std::string>(&state_); }
  const Array* array() const { return std::get_if<Array>(&state_); }
  const Object* object() const { return std::get_if<Object>(&state_); }
  Array* array() { return std::get_if<Array>(&state_); }
  Object* object() { return std::get_if<Object>(&state_); }

  // Null where the key is missing, or where this is no object.
  const Json* find(std::string_view key) const;

  // A null becomes an empty object first. A key already there keeps its place and gets the new value.
  Json& set(std::string_view key, Json value);
  // A null becomes an empty array first.
  Json& push(Json value);

 private:
  friend class JsonWriter;
  struct BigInteger {
    std::string digits;
  };
  // An int64 was written with a minus; all other integers that fit are uint64.
  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, BigInteger, double, std::string, Array,
               Object>
      state_;
};

struct JsonMember {
  std::string key;
  Json value;
};

inline Json::Json(std::nullptr_t) {}
inline Json::Json(bool value) : state_(value) {}
template <std::signed_integral Integer>
Json::Json(Integer value) {
  if (value < 0) {
    state_ = static_cast<std::int64_t>(value);
  } else {
    state_ = static_cast<std::uint64_t>(value);
  }
}
template <std::unsigned_integral Integer>
Json::Json(Integer value) : state_(static_cast<std::uint64_t>(value)) {}
inline Json::Json(double value) : state_(value) {}
inline Json::Json(std::string value) : state_(std::move(value)) {}
inline Json::Json(std::string_view value) : state_(std::string(value)) {}
inline Json::Json(const char* value) : state_(std::string(value)) {}
inline Json::Json(Array items) : state_(std::move(items)) {}
inline Json::Json(Object members) : state_(std::move(members)) {}

// A list of the numbers.
template <class Number>
Json json_list(const std::vector<Number>& numbers) {
  return Json::Array(numbers.begin(), numbers.end());
}

enum class DuplicateKeys {
  refuse,
  last_wins,  // the value of the last, in the place of the first
};

// What a text may cost. The defaults bound memory to a few hundred bytes a value, whatever the text holds.
struct JsonLimits {
  int depth = 128;  // of arrays and objects in each other
  std::size_t values = std::size_t{4} << 20;
  DuplicateKeys duplicates = DuplicateKeys::refuse;
};

Result<Json> parse_json(std::string_view text, const JsonLimits& limits = {});

// Without spaces. NaN and infinities, which JSON cannot say, are written as null.
std::string compact_json(const Json& value);

// As Python's json.dumps(value, ensure_ascii=False): ", " and ": " between, doubles as repr() shows them,
// Infinity, -Infinity and NaN by name. Specification: encoding.md 5.
std::string python_json(const Json& value);

// `text` in quotes with JSON's escapes, as both of the above write it. Requires UTF-8.
std::string json_quoted(std::string_view text);

}  // namespace manyspan
