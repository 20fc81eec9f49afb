// Timeline — one session's tokens and the pages that hold its state.
//
// State is addressed by position: appending is taking pages and writing past the end, undoing is forgetting,
// and a window forgets by giving pages back. Lengths and page tables are the whole truth. A page that
// somebody else holds too is never written: whoever is about to write it takes a copy.
//
// Owns       its page references; the counts must outlive it
// Threads    one thread at a time
// Spec       model.md 7; interfaces.md A7; docs/cache-and-pages.md
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "model/cache.h"
#include "session/pages.h"
#include "session/resume.h"

namespace manyspan {

// A page's bytes that must be copied before anything else is done.
struct PageCopy {
  std::size_t kind;
  std::int32_t from, to;
};

class Timeline {
 public:
  // `counts`: one for each kind of `geometry`. `window`: rows that a token attends to. `slot`: its row in
  // every table.
  Timeline(const PageGeometry& geometry, std::vector<PageCounts>& counts, std::int32_t window,
           std::int32_t slot);
  ~Timeline() { reset(); }
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  std::int32_t slot() const { return slot_; }
  std::int64_t length() const { return static_cast<std::int64_t>(tokens_.size()); }
  const std::vector<TokenId>& tokens() const { return tokens_; }
  const std::vector<std::int32_t>& classes() const { return classes_; }  // Engram's, one a token
  Held held() const;
  std::span<const std::int32_t> pages(std::size_t kind) const { return tables_[kind]; }
  // Of a row (or position, for the window) that is held.
  std::int32_t page_of(std::size_t kind, std::int64_t position) const;

  // Takes the pages that `count` more tokens need, and adds to `copies` those that must be made first: also
  // when it fails. Then nothing else has changed that matters: pages taken stay, unused.
  Result<void> reserve(std::int64_t count, std::vector<PageCopy>& copies);
  // The tokens are in the state now; pages that no later query can reach are given back.
  void append(std::span<const TokenId> tokens, std::span<const std::int32_t> classes);
  void reset();

  // The tokens appended last ran up to the last source only: layers above have no window keys of them, and what they
  // compute is exact from `exact_from` on.
  void ran_below(std::int64_t exact_from);
  // Once before a step that goes through all layers after such tokens: the pages, this session's own, in which their
  // window keys are missing where the step will look for them; none where nothing is missing.
  Result<std::vector<std::int32_t>> blank_pages(std::vector<PageCopy>& copies);

  // Holds the first `length` tokens alone. What they need and is not held, nobody brings back: see
  // resume_at().
  void forget(std::int64_t length);

  // An empty session holds what `other` does, in the same pages. Tails are the caller's to copy.
  void share(const Timeline& other);

  // An empty session holds these tokens, in pages of its own that the caller fills. On failure it is empty.
  Result<void> adopt(std::span<const TokenId> tokens, std::span<const std::int32_t> classes,
                     const Held& held);

  // Begins to run the tokens from `from` on again, while the rows of all that were held stay as they are:
  // until end_replay() steps write to copies of source pages, and put_back() after each step takes those away
  // again. The window before `from` is one page, returned here, which the caller fills with zeros.
  Result<std::int32_t> begin_replay(std::int64_t from);
  void put_back();
  void end_replay(std::int64_t exact_from);

 private:
  Result<void> own(std::size_t kind, std::int64_t page, std::vector<PageCopy>& copies);
  void drop(std::size_t kind, std::int64_t entry);
  void keep_window_from(std::int64_t position);

  const PageGeometry& geometry_;
  std::vector<PageCounts>& counts_;
  std::int32_t window_, slot_;
  std::vector<TokenId> tokens_;
  std::vector<std::int32_t> classes_;
  std::vector<std::vector<std::int32_t>> tables_;  // by kind; -1: none
  std::vector<std::vector<std::int32_t>> kept_;    // during a replay: the tables to put back, with references
  Held held_;
  std::int64_t exact_from_ = 0;  // of the layers above the last source; 0: as far as window keys are held
  bool blank_due_ = false;
};

}  // namespace manyspan
