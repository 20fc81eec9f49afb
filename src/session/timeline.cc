#include "session/timeline.h"

#include <algorithm>

namespace manyspan {

Timeline::Timeline(const PageGeometry& geometry, std::vector<PageCounts>& counts, std::int32_t window,
                   std::int32_t slot)
    : geometry_(geometry), counts_(counts), window_(window), slot_(slot) {
  for (const PageGeometry::Kind& kind : geometry.kinds) tables_.emplace_back(kind.width, -1);
}

Result<void> Timeline::reserve(std::int64_t count) {
  if (const std::size_t after = tokens_.size() + count;
      after > std::min(tokens_.capacity(), classes_.capacity())) {
    tokens_.reserve(2 * after);  // so that append() cannot fail half way
    classes_.reserve(2 * after);
  }
  for (std::size_t k = 0; k < tables_.size(); ++k) {
    const PageGeometry::Kind& kind = geometry_.kinds[k];
    const std::int64_t last = (length() + count - 1) / kind.tokens_per_page;
    for (std::int64_t page = length() / kind.tokens_per_page; page <= last; ++page) {
      std::int32_t& entry = tables_[k][page % kind.width];
      if (entry < 0) entry = TRY(counts_[k].take());
    }
  }
  return {};
}

void Timeline::append(std::span<const TokenId> tokens, std::span<const std::int32_t> classes) {
  const std::int64_t before = std::max<std::int64_t>(0, length() - window_ + 1);
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  classes_.insert(classes_.end(), classes.begin(), classes.end());
  // Window pages whose positions all lie before the next query's window.
  const PageGeometry::Kind& kind = geometry_.kinds[0];
  const std::int64_t after = std::max<std::int64_t>(0, length() - window_ + 1);
  for (std::int64_t page = before / kind.tokens_per_page; page < after / kind.tokens_per_page; ++page) {
    std::int32_t& entry = tables_[0][page % kind.width];
    if (entry >= 0) counts_[0].give_back(entry);
    entry = -1;
  }
}

void Timeline::reset() {
  for (std::size_t k = 0; k < tables_.size(); ++k) {
    for (std::int32_t& entry : tables_[k]) {
      if (entry >= 0) counts_[k].give_back(entry);
      entry = -1;
    }
  }
  tokens_.clear();
  classes_.clear();
}

}  // namespace manyspan
