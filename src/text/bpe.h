// bpe — joins the bytes of a piece into tokens by a ranked list of merges.
//
// Always the adjacent pair of lowest rank, leftmost first among equals, until no pair is listed.
// Specification: tokenizer, section 4, step 4.
//
// Threads    a const Bpe may be used by any number
// Cost       n log n in the length of a piece
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/ids.h"

namespace manyspan::text {

struct Merge {
  TokenId left, right, joined;  // the place in the list of merges is the rank
};

class Bpe {
 public:
  using ByteTokens = std::array<TokenId, 256>;

  // Requires ids from 0 up, and no pair twice.
  Bpe(const ByteTokens& byte_tokens, const std::vector<Merge>& merges);

  void encode(std::string_view piece, std::vector<TokenId>& ids) const;  // appends

 private:
  struct Entry {
    std::uint64_t pair;
    std::uint32_t rank;
    TokenId joined;
  };

  const Entry* find(TokenId left, TokenId right) const;  // null: not listed
  std::size_t first_slot(std::uint64_t pair) const;

  void encode_short(std::string_view piece, std::vector<TokenId>& ids) const;
  void encode_long(std::string_view piece, std::vector<TokenId>& ids) const;

  ByteTokens byte_tokens_;
  std::vector<Entry> slots_;  // open addressing; at least half of them empty
  int shift_;                 // leaves as many bits of a hash as there are slots
};

}  // namespace manyspan::text
