#include "spec/config_fields.h"

#include <algorithm>
#include <cstdio>

#include "base/utf8.h"

namespace manyspan {
namespace {

std::string plain(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

}  // namespace

std::string shown(std::string_view text) {
  constexpr std::size_t kLongest = 80;
  std::string out(utf8_beginning(text, kLongest));
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  if (text.size() > kLongest) out += "...";
  return out;
}

std::string_view ConfigFields::spelled(std::string_view key) const {
  for (const Spelling& s : spellings_) {
    if (s.official == key) return s.other;
  }
  return key;
}

void ConfigFields::fault(std::string_view key, const std::string& what) {
  faults_.push_back(place_ + std::string(spelled(key)) + ": " + what);
  faulty_.emplace(key);
}

void ConfigFields::ignore(std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) read_.emplace(spelled(key));
}

bool ConfigFields::has(std::string_view key) const {
  const Json* value = object_ == nullptr ? nullptr : object_->find(spelled(key));
  return value != nullptr && !value->is_null();
}

const Json* ConfigFields::take(std::string_view key, bool required) {
  read_.emplace(spelled(key));
  if (has(key)) return object_->find(spelled(key));
  if (required) fault(key, "missing");
  return nullptr;
}

bool ConfigFields::fits(std::string_view key, const Json& value, Between<std::int64_t> range,
                        std::int64_t& out) {
  if (!value.is_integer()) {
    fault(key, "must be an integer, is " + std::string(value.kind_name()));
    return false;
  }
  const std::optional<std::int64_t> number = value.integer();
  if (!number || *number < range.least || *number > range.most) {
    const std::string bounds = range.least == range.most
                                   ? std::to_string(range.least)
                                   : std::to_string(range.least) + " to " + std::to_string(range.most);
    fault(key, "is " + shown(compact_json(value)) + ", supported: " + bounds);
    return false;
  }
  out = *number;
  return true;
}

std::int64_t ConfigFields::integer(std::string_view key, Between<std::int64_t> range,
                                   std::optional<std::int64_t> otherwise) {
  const Json* value = take(key, !otherwise);
  if (value == nullptr) return otherwise.value_or(range.least);
  std::int64_t out = range.least;
  fits(key, *value, range, out);
  return out;
}

float ConfigFields::number(std::string_view key, Between<double> range, std::optional<double> otherwise) {
  const Json* value = take(key, !otherwise);
  if (value == nullptr) return static_cast<float>(otherwise.value_or(range.least));
  if (!value->number()) {
    fault(key, "must be a number, is " + std::string(value->kind_name()));
    return static_cast<float>(range.least);
  }
  const double number = *value->number();
  if (number >= range.least && number <= range.most) return static_cast<float>(number);
  fault(key, "is " + plain(number) + ", supported: " + plain(range.least) + " to " + plain(range.most));
  return static_cast<float>(range.least);
}

bool ConfigFields::flag(std::string_view key, std::optional<bool> otherwise) {
  const Json* value = take(key, !otherwise);
  if (value == nullptr) return otherwise.value_or(false);
  if (const std::optional<bool> set = value->boolean()) return *set;
  fault(key, "must be true or false, is " + std::string(value->kind_name()));
  return false;
}

std::string ConfigFields::text(std::string_view key, std::optional<std::string_view> otherwise) {
  const Json* value = take(key, !otherwise);
  if (value == nullptr) return std::string(otherwise.value_or(""));
  if (const std::string* text = value->string()) return shown(*text);
  fault(key, "must be a string, is " + std::string(value->kind_name()));
  return std::string(otherwise.value_or(""));
}

std::vector<std::int64_t> ConfigFields::integers(std::string_view key, std::size_t most,
                                                 Between<std::int64_t> range) {
  const Json* value = take(key, true);
  if (value == nullptr) return {};
  const Json::Array* list = value->array();
  if (list == nullptr) {
    fault(key, "must be a list of integers, is " + std::string(value->kind_name()));
    return {};
  }
  if (list->size() > most) {
    fault(key, "has " + std::to_string(list->size()) + " entries, at most " + std::to_string(most) +
                   " are supported");
    return {};
  }
  std::vector<std::int64_t> out;
  for (const Json& entry : *list) {
    std::int64_t number = range.least;
    if (!fits(key, entry, range, number)) break;
    out.push_back(number);
  }
  return out;
}

std::vector<std::int32_t> ConfigFields::int32s(std::string_view key, std::size_t most,
                                               Between<std::int64_t> range) {
  const std::vector<std::int64_t> wide = integers(key, most, range);
  return {wide.begin(), wide.end()};
}

const Json* ConfigFields::object(std::string_view key) {
  const Json* value = take(key, false);
  if (value == nullptr || value->object() != nullptr) return value;
  fault(key, "must be an object, is " + std::string(value->kind_name()));
  return nullptr;
}

std::vector<std::string> ConfigFields::unread() const {
  std::vector<std::string> keys;
  if (object_ == nullptr) return keys;
  for (const JsonMember& member : *object_->object()) {
    if (!read_.contains(member.key)) keys.push_back(member.key);
  }
  return keys;
}

}  // namespace manyspan
