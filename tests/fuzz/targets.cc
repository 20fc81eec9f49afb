#include <algorithm>

#include "base/utf8.h"
#include "tests/fuzz/target.h"

namespace manyspan::fuzz {

namespace {

std::string replaced_zeros(std::string text) {
  std::replace(text.begin(), text.end(), '\0', '?');
  return text;
}

}  // namespace

std::span<const Target> targets() {
  static constexpr Target kTargets[] = {
      {"safetensors", safetensors}, {"shard_index", shard_index},   {"gguf", gguf},
      {"config", config},           {"tokenizer", tokenizer},       {"generation_config", generation_config},
      {"snapshot", snapshot},       {"chat_request", chat_request}, {"output", output},
  };
  return kTargets;
}

Outcome refused(const Error& error) {
  const std::string& message = error.message();
  HOLD(error.fault() != Fault::exhausted && error.fault() != Fault::device_lost,
       "a refusal blames the input: " + message);
  HOLD(!message.empty() && is_valid_utf8(message), "a refusal is UTF-8 text: " + message);
  HOLD(message.find('\0') == std::string::npos, "a refusal has no zero byte: " + replaced_zeros(message));
  constexpr std::size_t kLongest = 64 << 10;
  HOLD(message.size() <= kLongest, "a refusal has " + std::to_string(message.size()) + " bytes");
  return {};
}

Outcome refused(const Error& error, const std::string& path) {
  HOLD(error.message().starts_with(path), "a refusal names the file: " + error.message());
  return refused(error);
}

}  // namespace manyspan::fuzz
