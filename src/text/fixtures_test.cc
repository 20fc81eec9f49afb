#include "text/fixtures.h"

#include <fstream>
#include <iterator>
#include <zlib.h>

#include <gtest/gtest.h>

namespace manyspan::text {

std::string read_test_data(const std::string& path) {
  std::ifstream file(std::string(MANYSPAN_SOURCE_DIR) + "/tests/data/" + path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::optional<std::string> unpack_fixture(const std::string& path) {
  const std::string whole = std::string(MANYSPAN_FIXTURES) + "/" + path;
  if (!std::ifstream(whole)) return std::nullopt;
  const gzFile file = gzopen(whole.c_str(), "rb");
  std::string text, part(1 << 16, '\0');
  int count = 0;
  while ((count = gzread(file, part.data(), static_cast<unsigned>(part.size()))) > 0) {
    text.append(part, 0, static_cast<std::size_t>(count));
  }
  EXPECT_EQ(count, 0) << path;
  gzclose(file);
  return text;
}

const Tokenizer& small_tokenizer() {
  static const Tokenizer tokenizer =
      Tokenizer::parse(read_test_data("tokenizer-small/tokenizer.json"), "tokenizer-small").value();
  return tokenizer;
}

const Tokenizer* v41_tokenizer() {
  static const auto tokenizer = []() -> std::optional<Tokenizer> {
    const auto json = unpack_fixture("tokenizer-v41/tokenizer.json.gz");
    if (!json) return std::nullopt;
    return Tokenizer::parse(*json, "tokenizer-v41").value();
  }();
  return tokenizer ? &*tokenizer : nullptr;
}

std::vector<std::int32_t> numbers(const std::vector<TokenId>& ids) {
  std::vector<std::int32_t> plain;
  for (const TokenId id : ids) plain.push_back(id.value);
  return plain;
}

std::vector<TokenId> ids(const std::vector<std::int32_t>& numbers) {
  std::vector<TokenId> typed;
  for (const std::int32_t number : numbers) typed.push_back(TokenId{number});
  return typed;
}

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

}  // namespace manyspan::text
