// pages — counts whose page is whose: one free list of ids for each kind of page, counted references.
//
// Threads    one thread at a time
// Spec       interfaces.md A7
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"

namespace manyspan {

class PageCounts {
 public:
  explicit PageCounts(std::int32_t pages);

  // A page that nobody has, with one reference.
  // Errors: exhausted
  Result<std::int32_t> take();
  void share(std::int32_t page);      // one reference more
  void give_back(std::int32_t page);  // one less; without any the page is free again
  bool shared(std::int32_t page) const { return references_[page] > 1; }

  std::int32_t used() const { return static_cast<std::int32_t>(references_.size() - free_.size()); }

 private:
  std::vector<std::int32_t> references_;  // by page
  std::vector<std::int32_t> free_;        // the next to be taken last
};

}  // namespace manyspan
