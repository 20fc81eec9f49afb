#include "text/byte_letters.h"

#include <array>
#include <cstddef>

#include "base/utf8.h"

namespace manyspan::text {
namespace {

constexpr char32_t kOthers = 0x100;
constexpr std::size_t kLetters = kOthers + 68;

struct Letters {
  std::array<char32_t, 256> letter{};
  std::array<int, kLetters> byte{};  // -1: no byte is spelled so
};

constexpr Letters make_letters() {
  Letters letters;
  letters.byte.fill(-1);
  char32_t other = kOthers;
  for (int byte = 0; byte < 256; ++byte) {
    const bool itself = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    const char32_t letter = itself ? static_cast<char32_t>(byte) : other++;
    letters.letter[static_cast<std::size_t>(byte)] = letter;
    letters.byte[letter] = byte;
  }
  return letters;
}

constexpr Letters kTable = make_letters();

}  // namespace

char32_t letter_of(unsigned char byte) { return kTable.letter[byte]; }

std::optional<std::string> bytes_of_spelling(std::string_view spelling) {
  std::string bytes;
  for (std::size_t position = 0; position < spelling.size();) {
    const Character character = character_at(spelling, position);
    if (!character.valid || character.code >= kLetters || kTable.byte[character.code] < 0)
      return std::nullopt;
    bytes += static_cast<char>(kTable.byte[character.code]);
    position += character.bytes;
  }
  return bytes;
}

}  // namespace manyspan::text
