// engram_tokens — folds tokens that differ only in case, marks, compatibility forms or white space into one
// number, which is what the Engram tables are hashed by.
//
// Specification: tokenizer, section 7.
//
// Cost       once at load, a small part of opening the tokenizer
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace manyspan::text {

struct EngramTokens {
  std::vector<std::int32_t> map;  // by token id: numbers from 0 in order of first appearance
  std::size_t distinct;
};

EngramTokens engram_tokens(const Tokenizer& tokenizer);

// What tokens have in common that share a number. Requires valid UTF-8; may be empty.
std::string engram_fold(std::string_view text);

}  // namespace manyspan::text
