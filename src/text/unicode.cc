#include "text/unicode.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "text/unicode_table.h"

namespace manyspan::text {
namespace {

CharClass search(char32_t code) {
  const auto after = std::upper_bound(kClassChanges.begin(), kClassChanges.end(), code << 3 | 7U);
  return static_cast<CharClass>(*(after - 1) & 7U);
}

// The two planes that text is made of, spread out for one load a character.
constexpr std::size_t kSpread = 0x20000;

const std::array<CharClass, kSpread>& spread() {
  static const auto classes = [] {
    std::array<CharClass, kSpread> filled{};
    for (std::size_t i = 0; i < kClassChanges.size(); ++i) {
      const std::size_t first = kClassChanges[i] >> 3;
      const std::size_t end = i + 1 < kClassChanges.size() ? kClassChanges[i + 1] >> 3 : kSpread;
      const auto kind = static_cast<CharClass>(kClassChanges[i] & 7U);
      for (std::size_t code = first; code < std::min(end, kSpread); ++code) filled[code] = kind;
    }
    return filled;
  }();
  return classes;
}

}  // namespace

CharClass class_of(char32_t code) {
  if (code < kSpread) return spread()[code];
  return code <= 0x10FFFF ? search(code) : CharClass::other;
}

}  // namespace manyspan::text
