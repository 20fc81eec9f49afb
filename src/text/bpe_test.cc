#include "text/bpe.h"

#include <algorithm>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace manyspan::text {
namespace {

constexpr std::int32_t kBytes = 256;

Bpe::ByteTokens bytes_as_ids() {
  Bpe::ByteTokens tokens;
  for (std::size_t byte = 0; byte < tokens.size(); ++byte)
    tokens[byte] = TokenId{static_cast<std::int32_t>(byte)};
  return tokens;
}

std::vector<TokenId> encode(const Bpe& bpe, std::string_view piece) {
  std::vector<TokenId> ids;
  bpe.encode(piece, ids);
  return ids;
}

// Merges of ids below that of their result, so many that texts of few letters merge a lot.
std::vector<Merge> random_merges(std::mt19937& random, int count, std::int32_t letters) {
  std::vector<Merge> merges;
  while (static_cast<int>(merges.size()) < count) {
    const auto pick = [&] {
      const auto at =
          static_cast<std::int32_t>(random() % (static_cast<std::size_t>(letters) + merges.size()));
      return TokenId{at < letters ? 'a' + at : kBytes + at - letters};
    };
    const Merge merge{pick(), pick(), TokenId{kBytes + static_cast<std::int32_t>(merges.size())}};
    const bool listed = std::any_of(merges.begin(), merges.end(), [&](const Merge& other) {
      return other.left == merge.left && other.right == merge.right;
    });
    if (!listed) merges.push_back(merge);
  }
  return merges;
}

// The rule word by word: look everywhere for the pair listed first, join its leftmost place, begin again.
std::vector<TokenId> encode_by_the_rule(const std::vector<Merge>& merges, std::string_view piece) {
  std::vector<TokenId> ids;
  for (const char byte : piece) ids.push_back(TokenId{static_cast<unsigned char>(byte)});
  for (bool again = true; again;) {
    again = false;
    for (const Merge& merge : merges) {
      for (std::size_t i = 0; i + 1 < ids.size() && !again; ++i) {
        if (ids[i] != merge.left || ids[i + 1] != merge.right) continue;
        ids[i] = merge.joined;
        ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        again = true;
      }
      if (again) break;
    }
  }
  return ids;
}

TEST(Bpe, PiecesOfAnyLengthMergeByTheRule) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    const auto letters = static_cast<std::int32_t>(1 + random() % 4);
    const auto merges = random_merges(random, 12, letters);
    const Bpe bpe(bytes_as_ids(), merges);
    for (std::size_t length = 0; length < 80; ++length) {
      std::string piece;
      while (piece.size() < length)
        piece += static_cast<char>('a' + random() % static_cast<std::size_t>(letters));
      ASSERT_EQ(encode(bpe, piece), encode_by_the_rule(merges, piece)) << "round " << round << ": " << piece;
    }
  }
}

TEST(Bpe, WithoutMergesEveryByteStaysAlone) {
  const Bpe bpe(bytes_as_ids(), {});
  EXPECT_EQ(encode(bpe, "a\xFF"), (std::vector<TokenId>{TokenId{'a'}, TokenId{0xFF}}));
  EXPECT_TRUE(encode(bpe, "").empty());
  EXPECT_EQ(encode(bpe, std::string(1000, 'x')).size(), 1000U);
}

// Looking at all pairs again after each merge would take hours here.
TEST(Bpe, APieceOfAMillionBytesTakesNoLongerThanItsLength) {
  std::vector<Merge> doublings;
  for (std::int32_t i = 0; i < 7; ++i) {
    const TokenId half{i == 0 ? ' ' : kBytes + i - 1};
    doublings.push_back({half, half, TokenId{kBytes + i}});
  }
  const auto ids = encode(Bpe(bytes_as_ids(), doublings), std::string(std::size_t{1} << 20, ' '));
  EXPECT_EQ(ids, std::vector<TokenId>((std::size_t{1} << 20) / 128, TokenId{kBytes + 6}));
}

}  // namespace
}  // namespace manyspan::text
