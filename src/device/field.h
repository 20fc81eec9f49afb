// Field — what a message calls one view of an operation's parameters: "q", "parts[3].x".
//
// Owns       nothing: the texts are literals
#pragma once

#include <cstdint>
#include <string>

namespace manyspan {

struct Field {
  constexpr Field(const char* name, std::int32_t index = -1, const char* member = nullptr)
      : name(name), index(index), member(member) {}

  std::string text() const {
    std::string t = name;
    if (index >= 0) t += "[" + std::to_string(index) + "]";
    if (member != nullptr) t += std::string(".") + member;
    return t;
  }

  const char* name;
  std::int32_t index;  // -1: not one of several
  const char* member;  // null: the thing itself
};

}  // namespace manyspan
