#include <algorithm>

#include "session/sessions.h"

namespace manyspan {

// Layers above the last source begin with nothing in their windows, and each needs one window of positions more than the
// one below it to become exact.                                                        spec 7
std::int64_t Sessions::exact_above(std::int64_t first) const {
  const std::int64_t above = blueprint_.layers - 1 - blueprint_.kv_sources.back();
  return first + above * (blueprint_.window - 1);
}

std::int64_t Sessions::cone(std::int64_t length) const {
  if (blueprint_.kv_sources.empty() || blueprint_.kv_sources.back() == blueprint_.layers - 1) return 0;
  // The last token reads exact keys, and so will whoever takes back as many as are kept spare.
  const std::int64_t exact = length - 1 - pipeline_.geometry().window_tokens;
  return std::max<std::int64_t>(0, exact - exact_above(0));
}

bool Sessions::is_whole(SessionId id) const {
  const Timeline& t = timeline(id);
  return t.held().window_from == 0 || t.length() - blueprint_.window + 1 >= t.held().window_from;
}

// What a step will find where window keys were never made is zeros: what comes of them is read by nobody, but it must be
// numbers.
Result<void> Sessions::blank_above(Timeline& timeline) {
  std::vector<PageCopy> copies;
  const auto pages = timeline.blank_pages(copies);
  for (const PageCopy& copy : copies) pipeline_.copy_page(copy.kind, copy.from, copy.to);
  for (const std::int32_t page : TRY(pages)) {
    for (std::int32_t layer = blueprint_.kv_sources.back(); layer < blueprint_.layers; ++layer) {
      const StatePart part{StatePart::Of::window, {layer}, page};
      if (zeros_.empty()) zeros_.resize(pipeline_.bytes_of(part));  // alike for all layers
      pipeline_.write(part, zeros_);
    }
  }
  return {};
}

}  // namespace manyspan
