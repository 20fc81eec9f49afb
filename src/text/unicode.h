// unicode — the class of a character, as far as cutting text for the tokenizer needs it.
//
// Unicode 16.0, whatever version the libraries of this machine have, so that ids do not depend on the
// machine. Specification: tokenizer, section 4.
#pragma once

#include <cstdint>

namespace manyspan::text {

enum class CharClass : std::uint8_t { other, number, letter, mark, punctuation, symbol, space };

// Any value may be asked for; what is no character is `other`. `space` is what \s of the split expressions
// takes.
CharClass class_of(char32_t code);

}  // namespace manyspan::text
