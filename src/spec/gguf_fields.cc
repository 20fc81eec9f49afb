#include "spec/gguf_fields.h"

#include <algorithm>

namespace manyspan {
namespace {

std::string whole(std::string_view key) { return std::string(kGgufModel).append(key); }

std::string shown_value(const Json& value) {
  if (value.array() != nullptr) return "a list of " + std::to_string(value.array()->size());
  return shown(compact_json(value));
}

}  // namespace

bool says_same(const Json& a, const Json& b) {
  if (a.is_integer() && b.is_integer()) return compact_json(a) == compact_json(b);
  if (a.number() && b.number()) return static_cast<float>(*a.number()) == static_cast<float>(*b.number());
  if (a.array() != nullptr && b.array() != nullptr)
    return std::equal(a.array()->begin(), a.array()->end(), b.array()->begin(), b.array()->end(), says_same);
  return a.kind() == b.kind() && compact_json(a) == compact_json(b);
}

GgufFields::GgufFields(const Json& metadata, Faults& faults) : faults_(faults) {
  for (const JsonMember& member : *metadata.object()) values_.emplace(member.key, &member.value);
}

const Json* GgufFields::outside(std::string_view key) const {
  const auto at = values_.find(key);
  return at == values_.end() ? nullptr : at->second;
}

const Json* GgufFields::find(Spellings spellings) {
  const Json* found = nullptr;
  std::string_view first;
  for (const std::string_view key : spellings) {
    read_.emplace(whole(key));
    const Json* value = outside(whole(key));
    if (value == nullptr) continue;
    if (found == nullptr) {
      found = value;
      first = key;
    } else if (!says_same(*found, *value)) {
      fault(key, shown_value(*value) + ", but " + whole(first) + " is " + shown_value(*found));
    }
  }
  return found;
}

std::string_view GgufFields::spelled(Spellings spellings) const {
  for (const std::string_view key : spellings) {
    if (outside(whole(key)) != nullptr) return key;
  }
  return *spellings.begin();
}

bool GgufFields::fits(std::string_view key, const Json& value, Between<std::int64_t> range,
                      std::int64_t& out) {
  const auto integer = value.integer();
  if (integer && *integer >= range.least && *integer <= range.most) {
    out = *integer;
    return true;
  }
  fault(key, value.is_integer() ? compact_json(value) + ", must be from " + std::to_string(range.least) +
                                      " to " + std::to_string(range.most)
                                : "must be an integer, is " + std::string(value.kind_name()));
  return false;
}

std::optional<std::int64_t> GgufFields::integer(Spellings spellings, Between<std::int64_t> range) {
  const Json* value = find(spellings);
  std::int64_t out = 0;
  if (value == nullptr || !fits(spelled(spellings), *value, range, out)) return std::nullopt;
  return out;
}

std::optional<std::vector<std::int64_t>> GgufFields::integers(Spellings spellings, std::size_t most,
                                                              Between<std::int64_t> range) {
  const Json* value = find(spellings);
  if (value == nullptr) return std::nullopt;
  const std::string_view key = spelled(spellings);
  const Json::Array* items = value->array();
  if (items == nullptr) {
    fault(key, "must be a list, is " + std::string(value->kind_name()));
    return std::nullopt;
  }
  if (items->size() > most) {
    fault(key,
          std::to_string(items->size()) + " entries, at most " + std::to_string(most) + " are supported");
    return std::nullopt;
  }
  std::vector<std::int64_t> out;
  for (const Json& item : *items) {
    std::int64_t number = 0;
    if (!fits(std::string(key) + "[" + std::to_string(out.size()) + "]", item, range, number))
      return std::nullopt;
    out.push_back(number);
  }
  return out;
}

void GgufFields::fault(std::string_view key, const std::string& what) {
  faults_.push_back(whole(key) + ": " + what);
}

std::vector<std::string> GgufFields::unread() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : values_) {
    if (key.starts_with(kGgufModel) && !read_.contains(key)) keys.emplace_back(key);
  }
  return keys;
}

}  // namespace manyspan
