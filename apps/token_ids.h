// token_ids — ids as people write them: a JSON list, or numbers apart by spaces, commas or newlines.
//
// Errors     corrupt: what is no id, with its place; ids are not checked against a vocabulary
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace manyspan::app {

Result<std::vector<TokenId>> read_ids(std::string_view text, const std::string& place);

std::vector<std::int32_t> numbers(const std::vector<TokenId>& ids);

}  // namespace manyspan::app
