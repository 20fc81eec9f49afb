// byte_letters — the letters by which tokenizer files spell the 256 bytes.
//
// Printable bytes spell themselves, as Latin-1; the other 68, rising, are U+0100 to U+0143. Specification:
// tokenizer, section 4, step 3.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace manyspan::text {

char32_t letter_of(unsigned char byte);

// The bytes that a spelling stands for; nothing if it holds any other character.
std::optional<std::string> bytes_of_spelling(std::string_view spelling);

}  // namespace manyspan::text
