// Timeline — one session's tokens and the pages that hold its state.
//
// State is addressed by position: appending is taking pages and writing past the end, and a window forgets by
// giving pages back. Lengths and page tables are the whole truth.
//
// Owns       its page references; the counts must outlive it
// Threads    one thread at a time
// Spec       model.md 7; interfaces.md A7
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "model/cache.h"
#include "session/pages.h"

namespace manyspan {

class Timeline {
 public:
  // `counts`: one for each kind of `geometry`. `slot`: its row in every table.
  Timeline(const PageGeometry& geometry, std::vector<PageCounts>& counts, std::int32_t window,
           std::int32_t slot);
  ~Timeline() { reset(); }
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  std::int32_t slot() const { return slot_; }
  std::int64_t length() const { return static_cast<std::int64_t>(tokens_.size()); }
  const std::vector<TokenId>& tokens() const { return tokens_; }
  const std::vector<std::int32_t>& classes() const { return classes_; }  // Engram's, one a token
  std::span<const std::int32_t> pages(std::size_t kind) const { return tables_[kind]; }

  // Takes the pages that `count` more tokens need. On failure nothing has changed that matters: pages taken
  // stay, unused.
  Result<void> reserve(std::int64_t count);
  // The tokens are in the state now; pages that no later query can reach are given back.
  void append(std::span<const TokenId> tokens, std::span<const std::int32_t> classes);
  void reset();

 private:
  const PageGeometry& geometry_;
  std::vector<PageCounts>& counts_;
  std::int32_t window_, slot_;
  std::vector<TokenId> tokens_;
  std::vector<std::int32_t> classes_;
  std::vector<std::vector<std::int32_t>> tables_;  // by kind; -1: none
};

}  // namespace manyspan
