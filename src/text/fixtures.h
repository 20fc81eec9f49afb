// fixtures — the tokenizers and expected results that this room's tests share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "text/tokenizer.h"

namespace manyspan::text {

std::string read_test_data(const std::string& path);  // under tests/data; fails the test if it isn't there

// Unpacks a .gz of the fixtures folder; nothing if the folder doesn't have it.
std::optional<std::string> unpack_fixture(const std::string& path);

const Tokenizer& small_tokenizer();
const Tokenizer* v41_tokenizer();  // null where the fixtures folder has none

std::vector<std::int32_t> numbers(const std::vector<TokenId>& ids);
std::vector<TokenId> ids(const std::vector<std::int32_t>& numbers);
std::string from_hex(const std::string& hex);

inline constexpr const char* kNoV41 = "MANYSPAN_FIXTURES has no tokenizer-v41/tokenizer.json.gz";

}  // namespace manyspan::text
