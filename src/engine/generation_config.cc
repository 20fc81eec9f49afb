#include "engine/generation_config.h"

#include <charconv>

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

Result<GenerationDefaults> read(const std::string& text) {
  const Json root = TRY(parse_json(text));
  if (root.object() == nullptr)
    return Error(Fault::invalid, "expected an object, found " + std::string(root.kind_name()));
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

Result<GenerationDefaults> read_generation_config(const std::string& path) {
  auto text = read_file(path, kMostBytes);
  if (!text.ok()) {
    if (text.error().fault() == Fault::not_found) return GenerationDefaults{};
    return std::move(text).error();
  }
  auto defaults = read(text.value());
  if (!defaults.ok()) return std::move(defaults).error().within(path);
  return defaults;
}

}  // namespace manyspan
