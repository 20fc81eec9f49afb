#include "text/bpe.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <queue>

#include "base/check.h"

namespace manyspan::text {
namespace {

constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
constexpr std::uint32_t kNoRank = ~std::uint32_t{0};
// Up to this length, looking at every pair each time is faster than a heap.
constexpr std::size_t kShort = 32;

std::uint64_t pair_of(TokenId left, TokenId right) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left.value)) << 32 |
         static_cast<std::uint32_t>(right.value);
}

}  // namespace

Bpe::Bpe(const ByteTokens& byte_tokens, const std::vector<Merge>& merges) : byte_tokens_(byte_tokens) {
  const std::size_t slots = std::bit_ceil(std::max<std::size_t>(2 * merges.size(), 2));
  slots_.assign(slots, Entry{kEmpty, kNoRank, TokenId{-1}});
  shift_ = 64 - std::countr_zero(slots);
  for (std::size_t rank = 0; rank < merges.size(); ++rank) {
    const std::uint64_t pair = pair_of(merges[rank].left, merges[rank].right);
    std::size_t slot = first_slot(pair);
    while (slots_[slot].pair != kEmpty) {
      CHECK(slots_[slot].pair != pair, "a pair is listed twice");
      slot = (slot + 1) & (slots - 1);
    }
    slots_[slot] = {pair, static_cast<std::uint32_t>(rank), merges[rank].joined};
  }
}

std::size_t Bpe::first_slot(std::uint64_t pair) const {
  pair ^= pair >> 29;  // a product alone never brings the left id down to where the right one is
  return pair * 0x9E3779B97F4A7C15U >> shift_;
}

const Bpe::Entry* Bpe::find(TokenId left, TokenId right) const {
  const std::uint64_t pair = pair_of(left, right);
  for (std::size_t slot = first_slot(pair);; slot = (slot + 1) & (slots_.size() - 1)) {
    if (slots_[slot].pair == pair) return &slots_[slot];
    if (slots_[slot].pair == kEmpty) return nullptr;
  }
}

void Bpe::encode(std::string_view piece, std::vector<TokenId>& ids) const {
  if (piece.size() <= kShort) {
    encode_short(piece, ids);
  } else {
    encode_long(piece, ids);
  }
}

void Bpe::encode_short(std::string_view piece, std::vector<TokenId>& ids) const {
  const Entry none{kEmpty, kNoRank, TokenId{-1}};
  std::array<TokenId, kShort> tokens;
  std::array<Entry, kShort> pairs;  // pairs[i] joins tokens[i] and tokens[i + 1]
  std::size_t count = piece.size();
  for (std::size_t i = 0; i < count; ++i) tokens[i] = byte_tokens_[static_cast<unsigned char>(piece[i])];
  const auto look_up = [&](std::size_t i) {
    const Entry* entry = find(tokens[i], tokens[i + 1]);
    pairs[i] = entry != nullptr ? *entry : none;
  };
  for (std::size_t i = 0; i + 1 < count; ++i) look_up(i);
  while (count > 1) {
    std::size_t best = 0;
    for (std::size_t i = 1; i + 1 < count; ++i) {
      if (pairs[i].rank < pairs[best].rank) best = i;
    }
    if (pairs[best].rank == kNoRank) break;
    tokens[best] = pairs[best].joined;
    std::copy(tokens.begin() + best + 2, tokens.begin() + count, tokens.begin() + best + 1);
    if (best + 2 < count)
      std::copy(pairs.begin() + best + 2, pairs.begin() + count - 1, pairs.begin() + best + 1);
    --count;
    if (best > 0) look_up(best - 1);
    if (best + 1 < count) look_up(best);
  }
  ids.insert(ids.end(), tokens.begin(), tokens.begin() + count);
}

void Bpe::encode_long(std::string_view piece, std::vector<TokenId>& ids) const {
  constexpr std::size_t kNone = ~std::size_t{0};
  struct Node {
    TokenId token;
    std::size_t before, after;
  };
  struct Candidate {
    std::uint32_t rank;
    std::size_t left;
    TokenId left_token, right_token, joined;  // stale once the nodes hold others
    bool operator>(const Candidate& other) const {
      return rank != other.rank ? rank > other.rank : left > other.left;
    }
  };
  std::vector<Node> nodes(piece.size());
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> heap;
  const auto consider = [&](std::size_t left) {
    const TokenId left_token = nodes[left].token, right_token = nodes[nodes[left].after].token;
    if (const Entry* entry = find(left_token, right_token)) {
      heap.push({entry->rank, left, left_token, right_token, entry->joined});
    }
  };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const TokenId token = byte_tokens_[static_cast<unsigned char>(piece[i])];
    nodes[i] = {token, i > 0 ? i - 1 : kNone, i + 1 < nodes.size() ? i + 1 : kNone};
  }
  for (std::size_t i = 0; i + 1 < nodes.size(); ++i) consider(i);
  while (!heap.empty()) {
    const Candidate best = heap.top();
    heap.pop();
    Node& left = nodes[best.left];
    if (left.token != best.left_token || left.after == kNone || nodes[left.after].token != best.right_token)
      continue;
    Node& right = nodes[left.after];
    left.token = best.joined;
    left.after = right.after;
    right.token = TokenId{-1};  // so that no candidate that starts there still holds
    if (left.after != kNone) nodes[left.after].before = best.left;
    if (left.before != kNone) consider(left.before);
    if (left.after != kNone) consider(best.left);
  }
  for (std::size_t i = 0; i != kNone; i = nodes[i].after) ids.push_back(nodes[i].token);
}

}  // namespace manyspan::text
