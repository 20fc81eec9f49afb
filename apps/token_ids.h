// token_ids — ids as people write them: a JSON list, or numbers apart by spaces, one comma, or newlines.
//
// Entries are counted from 1.
//
// Errors     corrupt: what is no id, with its place
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/json.h"
#include "base/result.h"

namespace manyspan::app {

inline constexpr std::size_t kMostJsonValues = std::size_t{16} << 20;  // in a file of ids

// Not checked against a vocabulary.
Result<std::vector<TokenId>> read_ids(std::string_view text, const std::string& place);
Result<std::vector<TokenId>> ids_of(const Json::Array& list);

// Errors: corrupt for the first that the model does not know
Result<void> within_vocabulary(const std::vector<TokenId>& ids, std::int64_t vocabulary);

std::vector<std::int32_t> numbers(const std::vector<TokenId>& ids);

}  // namespace manyspan::app
