// added_tokens — finds the tokens that are matched as whole texts, before anything else looks at the text.
//
// Leftmost first, the longest of those that start there. Specification: tokenizer, section 4, step 1.
//
// Owns       the texts
// Threads    a const AddedTokens may be used by any number
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"

namespace manyspan::text {

struct AddedToken {
  std::string text;
  TokenId id;
};

class AddedTokens {
 public:
  struct Found {
    std::size_t begin, end;
    TokenId id;
  };

  // Requires texts that are not empty and differ from each other.
  explicit AddedTokens(std::vector<AddedToken> tokens);

  // The first match that lies whole in [from, to) of the text.
  std::optional<Found> find(std::string_view text, std::size_t from, std::size_t to) const;

  std::optional<TokenId> id_of(std::string_view text) const;

 private:
  std::optional<Found> longest_at(std::string_view text, std::size_t from, std::size_t to) const;

  std::vector<AddedToken> sorted_;  // by text
  std::array<bool, 256> starts_{};  // by first byte
};

}  // namespace manyspan::text
