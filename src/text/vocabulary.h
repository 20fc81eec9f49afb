// vocabulary — what a tokenizer file says: the tokens by id and the merges by rank, not yet checked against
// each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"

namespace manyspan::text {

struct Vocabulary {
  std::vector<std::string> spellings;  // by id: in byte letters, an added token's as plain text
  std::vector<TokenId> added;          // ids of the added tokens, each once
  std::vector<std::pair<std::string, std::string>> merges;  // spellings of the two parts, by rank
  bool may_repeat =
      false;  // several ids may have one spelling: text becomes the first of them that is no added token,
              // or the first
};

// No known vocabulary has a tenth of it; keeps ids and ranks well inside 32 bits.
inline constexpr std::size_t kMostTokens = std::size_t{1} << 22;
inline constexpr std::uint64_t kLargestTokenizerFile = std::uint64_t{256} << 20;

}  // namespace manyspan::text
