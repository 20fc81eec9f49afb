// gguf_trial — for tests: GGUF files written by hand, right or wrong.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"

namespace manyspan {

template <class Number>
std::string le(Number number) {
  std::byte bytes[sizeof(Number)];
  store_little_endian(number, bytes);
  return std::string(text_of(bytes));
}

inline std::string gguf_text(std::string_view text) {
  return le(std::uint64_t{text.size()}) + std::string(text);
}

// The fixed front, for as many tensors and keys as follow.
inline std::string gguf_counts(std::uint64_t tensors, std::uint64_t keys, std::uint32_t version = 3) {
  return "GGUF" + le(version) + le(tensors) + le(keys);
}

inline std::string gguf_tensor(std::string_view name, std::initializer_list<std::uint64_t> ne,
                               std::uint32_t type, std::uint64_t offset) {
  std::string text = gguf_text(name) + le(static_cast<std::uint32_t>(ne.size()));
  for (const std::uint64_t size : ne) text += le(size);
  return text + le(type) + le(offset);
}

inline std::string gguf_padded(std::string text, std::size_t alignment = 32) {
  text.resize((text.size() + alignment - 1) / alignment * alignment, '\0');
  return text;
}

}  // namespace manyspan
