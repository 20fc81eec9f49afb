#include "session/pages.h"

#include <string>

#include "base/check.h"

namespace manyspan {

PageCounts::PageCounts(std::int32_t pages) : references_(pages, 0) {
  for (std::int32_t p = pages; p-- > 0;) free_.push_back(p);
}

Result<std::int32_t> PageCounts::take() {
  if (free_.empty())
    return Error(Fault::exhausted, "all " + std::to_string(references_.size()) + " pages are taken");
  const std::int32_t page = free_.back();
  free_.pop_back();
  references_[page] = 1;
  return page;
}

void PageCounts::share(std::int32_t page) {
  CHECK(references_[page] > 0, "a page that somebody has");
  ++references_[page];
}

void PageCounts::give_back(std::int32_t page) {
  CHECK(references_[page] > 0, "a page that somebody has");
  if (--references_[page] == 0) free_.push_back(page);
}

}  // namespace manyspan
