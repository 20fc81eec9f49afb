#include "base/json.h"

#include <charconv>
#include <limits>

namespace manyspan {

Json Json::integer_of(std::string digits) {
  Json json;
  const char* const end = digits.data() + digits.size();
  if (digits.starts_with('-')) {
    std::int64_t value = 0;
    if (std::from_chars(digits.data(), end, value).ec == std::errc()) {
      json.state_ = value;
      return json;
    }
  } else {
    std::uint64_t value = 0;
    if (std::from_chars(digits.data(), end, value).ec == std::errc()) {
      json.state_ = value;
      return json;
    }
  }
  json.state_ = BigInteger{std::move(digits)};
  return json;
}

Json::Kind Json::kind() const {
  constexpr Kind kKinds[] = {Kind::null,   Kind::boolean, Kind::number, Kind::number, Kind::number,
                             Kind::number, Kind::string,  Kind::array,  Kind::object};
  return kKinds[state_.index()];
}

std::string_view Json::kind_name() const {
  switch (kind()) {
    case Kind::null:
      return "null";
    case Kind::boolean:
      return "a boolean";
    case Kind::number:
      return is_integer() ? "an integer" : "a number with a fraction or exponent";
    case Kind::string:
      return "a string";
    case Kind::array:
      return "an array";
    case Kind::object:
      return "an object";
  }
  return "nothing";
}

std::optional<bool> Json::boolean() const {
  const bool* value = std::get_if<bool>(&state_);
  return value ? std::optional(*value) : std::nullopt;
}

std::optional<std::int64_t> Json::integer() const {
  if (const auto* value = std::get_if<std::int64_t>(&state_)) return *value;
  if (const auto* value = std::get_if<std::uint64_t>(&state_)) {
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (*value <= kMost) return static_cast<std::int64_t>(*value);
  }
  return std::nullopt;
}

std::optional<std::uint64_t> Json::natural() const {
  const auto* value = std::get_if<std::uint64_t>(&state_);
  return value ? std::optional(*value) : std::nullopt;
}

std::optional<double> Json::number() const {
  if (const auto* value = std::get_if<double>(&state_)) return *value;
  if (const auto* value = std::get_if<std::int64_t>(&state_)) return static_cast<double>(*value);
  if (const auto* value = std::get_if<std::uint64_t>(&state_)) return static_cast<double>(*value);
  if (const auto* value = std::get_if<BigInteger>(&state_)) {
    const std::string& digits = value->digits;
    double rounded = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), rounded);
    if (read.ec == std::errc()) return rounded;
    const double infinity = std::numeric_limits<double>::infinity();
    return digits.starts_with('-') ? -infinity : infinity;
  }
  return std::nullopt;
}

bool Json::is_integer() const { return kind() == Kind::number && !std::holds_alternative<double>(state_); }

const Json* Json::find(std::string_view key) const {
  const Object* members = object();
  if (members == nullptr) return nullptr;
  for (const JsonMember& member : *members) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

Json& Json::set(std::string_view key, Json value) {
  if (is_null()) state_ = Object();
  Object* members = object();
  CHECK(members != nullptr, "set() of a value that is neither null nor an object");
  for (JsonMember& member : *members) {
    if (member.key == key) {
      member.value = std::move(value);
      return *this;
    }
  }
  members->push_back({std::string(key), std::move(value)});
  return *this;
}

Json& Json::push(Json value) {
  if (is_null()) state_ = Array();
  Array* items = array();
  CHECK(items != nullptr, "push() to a value that is neither null nor an array");
  items->push_back(std::move(value));
  return *this;
}

}  // namespace manyspan
