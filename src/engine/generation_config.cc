#include "engine/generation_config.h"

#include <charconv>
#include <cstdint>
#include <utility>

#include "base/file.h"
#include "base/json.h"

namespace manyspan {
namespace {

constexpr std::uint64_t kMostBytes = 1 << 20;

Error wrong(const char* key, const char* expected, const Json& found) {
  return Error(Fault::invalid,
               std::string(key) + ": expected " + expected + ", found " + std::string(found.kind_name()));
}

Result<void> read_number(const Json& root, const char* key, float least, float most, float& to) {
  const Json* value = root.find(key);
  if (value == nullptr || value->is_null()) return {};
  const auto number = value->number();
  if (!number) return wrong(key, "a number", *value);
  if (!(*number >= least && *number <= most)) {
    return Error(Fault::invalid, std::string(key) + ": " + python_json(*value) + " is not between " +
                                     python_json(Json(double{least})) + " and " +
                                     python_json(Json(double{most})));
  }
  to = static_cast<float>(*number);
  return {};
}

Result<void> check_top_k(const Json& root) {
  const Json* value = root.find("top_k");
  if (value == nullptr || value->is_null()) return {};
  if (!value->is_integer()) return wrong("top_k", "an integer", *value);
  const auto number = value->integer();
  if (!number || *number < 0 || *number > INT32_MAX) {
    return Error(Fault::invalid,
                 "top_k: " + python_json(*value) + " is not between 0 and " + std::to_string(INT32_MAX));
  }
  return {};
}

Result<void> check_id(const char* key, const Json& value, const Blueprint* b, std::int32_t expected) {
  if (!value.is_integer()) return wrong(key, "a token id", value);
  const auto id = value.integer();
  const auto refuse = [&](const std::string& what) {
    return Error(Fault::invalid, std::string(key) + ": " + python_json(value) + what);
  };
  if (!id || *id < 0) return refuse(" is no token id");
  if (b == nullptr) return {};
  if (*id >= b->vocabulary) return refuse(" is outside the vocabulary of " + std::to_string(b->vocabulary));
  if (*id != expected) return refuse(", but config.json has " + std::to_string(expected));
  return {};
}

Result<void> check_ids(const Json& root, const Blueprint* b) {
  constexpr std::pair<const char*, std::int32_t Blueprint::*> kIds[] = {
      {"bos_token_id", &Blueprint::bos_token},
      {"eos_token_id", &Blueprint::eos_token},
      {"pad_token_id", &Blueprint::pad_token}};
  for (const auto& [key, id] : kIds) {
    const Json* value = root.find(key);
    if (value == nullptr || value->is_null()) continue;
    const std::int32_t expected = b == nullptr ? 0 : b->*id;
    const Json::Array* list = id == &Blueprint::eos_token ? value->array() : nullptr;
    if (list != nullptr && list->size() != 1) {
      return Error(Fault::invalid, std::string(key) + ": a list of " + std::to_string(list->size()) +
                                       ", only one id that ends an answer is supported" +
                                       (b == nullptr ? "" : ", config.json's " + std::to_string(expected)));
    }
    TRY(check_id(key, list == nullptr ? *value : (*list)[0], b, expected));
  }
  return {};
}

Result<GenerationDefaults> read(const std::string& text, const Blueprint* blueprint) {
  const Json root = TRY(parse_json(text));
  if (root.object() == nullptr)
    return Error(Fault::invalid, "expected an object, found " + std::string(root.kind_name()));
  TRY(check_ids(root, blueprint));
  TRY(check_top_k(root));
  GenerationDefaults d;
  if (const Json* sample = root.find("do_sample"); sample != nullptr && !sample->is_null()) {
    if (!sample->boolean()) return wrong("do_sample", "true or false", *sample);
    d.do_sample = *sample->boolean();
  }
  TRY(read_number(root, "temperature", 0, 100, d.temperature));
  TRY(read_number(root, "top_p", 1e-6f, 1, d.top_p));
  if (const Json* thinking = root.find("thinking"); thinking != nullptr && !thinking->is_null()) {
    if (const std::string* word = thinking->string()) {
      d.thinking = *word;
    } else if (thinking->is_integer()) {
      d.thinking = python_json(*thinking);
    }
    if (!is_thinking(d.thinking)) {
      return Error(Fault::invalid,
                   "thinking: expected off, on, low, high, max or 1 to 100, found " + python_json(*thinking));
    }
    d.thinking_said = true;
  }
  return d;
}

}  // namespace

bool is_thinking(const std::string& thinking) {
  for (const char* word : {"off", "on", "low", "high", "max"}) {
    if (thinking == word) return true;
  }
  int effort = 0;
  const auto [end, fault] = std::from_chars(thinking.data(), thinking.data() + thinking.size(), effort);
  return fault == std::errc{} && end == thinking.data() + thinking.size() && effort >= 1 && effort <= 100;
}

Result<GenerationDefaults> read_generation_config(const std::string& path, const Blueprint* blueprint) {
  auto text = read_file(path, kMostBytes);
  if (!text.ok()) {
    if (text.error().fault() == Fault::not_found) return GenerationDefaults{};
    return std::move(text).error();
  }
  return parse_generation_config(text.value(), path, blueprint);
}

Result<GenerationDefaults> parse_generation_config(const std::string& text, const std::string& place,
                                                   const Blueprint* blueprint) {
  auto defaults = read(text, blueprint);
  if (!defaults.ok()) return std::move(defaults).error().within(place);
  return defaults;
}

}  // namespace manyspan
