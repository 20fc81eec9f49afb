#include "session/timeline.h"

#include <algorithm>

#include "base/check.h"
#include "kernels/pages.h"

namespace manyspan {

Timeline::Timeline(const PageGeometry& geometry, std::vector<PageCounts>& counts, std::int32_t window,
                   std::int32_t slot)
    : geometry_(geometry), counts_(counts), window_(window), slot_(slot) {
  for (const PageGeometry::Kind& kind : geometry.kinds) tables_.emplace_back(kind.width, -1);
}

std::int32_t Timeline::page_of(std::size_t kind, std::int64_t position) const {
  const PageGeometry::Kind& k = geometry_.kinds[kind];
  const std::int32_t page = tables_[kind][position / k.tokens_per_page % k.width];
  CHECK(page >= 0, "a position that is held");
  return page;
}

Held Timeline::held() const {
  return {.window_from = std::max(held_.window_from, exact_from_), .tail_from = held_.tail_from};
}

void Timeline::ran_below(std::int64_t exact_from) {
  exact_from_ = exact_from;
  blank_due_ = true;
}

Result<std::vector<std::int32_t>> Timeline::blank_pages(std::vector<PageCopy>& copies) {
  std::vector<std::int32_t> pages;
  if (!blank_due_) return pages;
  const PageGeometry::Kind& kind = geometry_.kinds[0];
  const std::int64_t first = std::max(held_.window_from, length() - window_ + 1) / kind.tokens_per_page;
  for (std::int64_t page = first; page * kind.tokens_per_page < length(); ++page) {
    TRY(own(0, page, copies));
    pages.push_back(tables_[0][page % kind.width]);
  }
  blank_due_ = false;
  return pages;
}

// A page that is there and nobody else's.
Result<void> Timeline::own(std::size_t kind, std::int64_t page, std::vector<PageCopy>& copies) {
  std::int32_t& entry = tables_[kind][page % geometry_.kinds[kind].width];
  if (entry < 0) {
    entry = TRY(counts_[kind].take());
  } else if (counts_[kind].shared(entry)) {
    const std::int32_t own = TRY(counts_[kind].take());
    copies.push_back({kind, entry, own});
    counts_[kind].give_back(entry);
    entry = own;
  }
  return {};
}

Result<void> Timeline::reserve(std::int64_t count, std::vector<PageCopy>& copies) {
  if (const std::size_t after = tokens_.size() + count;
      after > std::min(tokens_.capacity(), classes_.capacity())) {
    tokens_.reserve(2 * after);  // so that append() cannot fail half way
    classes_.reserve(2 * after);
  }
  for (std::size_t k = 0; k < tables_.size(); ++k) {
    const PageGeometry::Kind& kind = geometry_.kinds[k];
    const std::int64_t last = (length() + count - 1) / kind.tokens_per_page;
    for (std::int64_t page = length() / kind.tokens_per_page; page <= last; ++page) TRY(own(k, page, copies));
  }
  return {};
}

void Timeline::append(std::span<const TokenId> tokens, std::span<const std::int32_t> classes) {
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  classes_.insert(classes_.end(), classes.begin(), classes.end());
  keep_window_from(length() - geometry_.window_tokens);
  held_.tail_from = std::max(held_.tail_from, length() - kernels::kTailTokens);
}

// Gives back the window pages whose positions all lie before `position`.
void Timeline::keep_window_from(std::int64_t position) {
  const std::int64_t rows = geometry_.kinds[0].tokens_per_page;
  const std::int64_t first = std::max<std::int64_t>(0, position) / rows;
  for (std::int64_t page = held_.window_from / rows; page < first; ++page) drop(0, page);
  held_.window_from = std::max(held_.window_from, first * rows);
}

void Timeline::drop(std::size_t kind, std::int64_t page) {
  std::int32_t& entry = tables_[kind][page % geometry_.kinds[kind].width];
  if (entry >= 0) counts_[kind].give_back(entry);
  entry = -1;
}

void Timeline::reset() {
  for (std::size_t k = 0; k < tables_.size(); ++k) {
    for (std::int64_t page = 0; page < geometry_.kinds[k].width; ++page) drop(k, page);
    if (kept_.empty()) continue;
    for (const std::int32_t page : kept_[k]) {
      if (page >= 0) counts_[k].give_back(page);
    }
  }
  kept_.clear();
  tokens_.clear();
  classes_.clear();
  held_ = {};
  exact_from_ = 0;
  blank_due_ = false;
}

void Timeline::forget(std::int64_t length) {
  CHECK(length <= this->length() && kept_.empty(), "a length that is held, and no replay");
  if (length == 0) return reset();
  for (std::size_t k = 0; k < tables_.size(); ++k) {
    // The window's table is used round and round: what is not kept lies in the entries behind what is.
    const PageGeometry::Kind& kind = geometry_.kinds[k];
    const std::int64_t first = k == 0 ? held_.window_from / kind.tokens_per_page : 0;
    const std::int64_t end = (length + kind.tokens_per_page - 1) / kind.tokens_per_page;
    for (std::int64_t page = std::max(first, end); page < first + kind.width; ++page) drop(k, page);
  }
  tokens_.resize(length);
  classes_.resize(length);
  held_.window_from = std::min(held_.window_from, length);
  held_.tail_from = std::min(held_.tail_from, length);
}

void Timeline::share(const Timeline& other) {
  CHECK(length() == 0 && other.kept_.empty(), "an empty session, and one that does not replay");
  reset();  // pages that were taken and not used
  tokens_ = other.tokens_;
  classes_ = other.classes_;
  held_ = other.held_;
  exact_from_ = other.exact_from_;
  blank_due_ = other.blank_due_;
  tables_ = other.tables_;
  for (std::size_t k = 0; k < tables_.size(); ++k) {
    for (const std::int32_t page : tables_[k]) {
      if (page >= 0) counts_[k].share(page);
    }
  }
}

Result<void> Timeline::adopt(std::span<const TokenId> tokens, std::span<const std::int32_t> classes,
                             const Held& held) {
  CHECK(length() == 0, "an empty session");
  reset();  // pages that were taken and not used
  for (std::size_t k = 0; k < tables_.size(); ++k) {
    const PageGeometry::Kind& kind = geometry_.kinds[k];
    const std::int64_t first = k == 0 ? held.window_from / kind.tokens_per_page : 0;
    const std::int64_t end = (std::ssize(tokens) + kind.tokens_per_page - 1) / kind.tokens_per_page;
    CHECK(end - first <= kind.width, "tokens that fit the table");
    for (std::int64_t page = first; page < end; ++page) {
      auto taken = counts_[k].take();
      if (!taken.ok()) {
        reset();
        return std::move(taken).error();
      }
      tables_[k][page % kind.width] = taken.value();
    }
  }
  tokens_.assign(tokens.begin(), tokens.end());
  classes_.assign(classes.begin(), classes.end());
  held_ = held;
  return {};
}

Result<std::int32_t> Timeline::begin_replay(std::int64_t from) {
  const PageGeometry::Kind& window = geometry_.kinds[0];
  CHECK(from > 0 && from < length() && from % window.tokens_per_page == 0, "whole pages before the replay");
  for (std::int64_t page = 0; page < window.width; ++page) drop(0, page);
  kept_ = tables_;
  for (std::size_t k = 1; k < kept_.size(); ++k) {
    for (const std::int32_t page : kept_[k]) {
      if (page >= 0) counts_[k].share(page);
    }
  }
  tokens_.resize(from);
  classes_.resize(from);
  held_ = {.window_from = std::max<std::int64_t>(0, from - window_ + 1), .tail_from = from};
  held_.window_from -= held_.window_from % window.tokens_per_page;
  exact_from_ = 0;
  blank_due_ = false;
  const std::int64_t first = held_.window_from / window.tokens_per_page, end = from / window.tokens_per_page;
  const std::int32_t empty = TRY(counts_[0].take());
  for (std::int64_t page = first; page < end; ++page) {
    tables_[0][page % window.width] = empty;
    if (page > first) counts_[0].share(empty);
  }
  if (first == end) counts_[0].give_back(empty);  // a window of one: nothing looks back
  return empty;
}

void Timeline::put_back() {
  for (std::size_t k = 1; k < kept_.size(); ++k) {
    for (std::size_t i = 0; i < kept_[k].size(); ++i) {
      if (tables_[k][i] == kept_[k][i]) continue;
      drop(k, static_cast<std::int64_t>(i));
      tables_[k][i] = kept_[k][i];
      if (kept_[k][i] >= 0) counts_[k].share(kept_[k][i]);
    }
  }
}

void Timeline::end_replay(std::int64_t exact_from) {
  for (std::size_t k = 1; k < kept_.size(); ++k) {
    for (const std::int32_t page : kept_[k]) {
      if (page >= 0) counts_[k].give_back(page);
    }
  }
  kept_.clear();
  keep_window_from(exact_from);
  held_.window_from = std::max(held_.window_from, exact_from);
  held_.tail_from = std::max(held_.tail_from, exact_from);
}

}  // namespace manyspan
