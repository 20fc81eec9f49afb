#include "session/state_pages.h"

#include <algorithm>
#include <vector>

#include "session/packed_rows.h"

namespace manyspan {
namespace {

using Tag = SnapshotSection::Tag;

constexpr std::size_t kPagesAtOnce = 64;  // whose bytes are on the host, beside the packed rows

// How a section's rows lie in pages. A tail's page is its slot.
struct Placing {
  StatePart::Of of;
  RowLayout layout;
  std::size_t kind;
  std::int64_t ratio;  // positions a row
};

Placing placing_of(const SnapshotSection& s, const Blueprint& b, const PageGeometry& g) {
  if (s.tag == Tag::window) return {StatePart::Of::window, window_rows(b), 0, 1};
  if (s.tag == Tag::tail) return {StatePart::Of::tail, tail_rows(b), 0, 1};
  const std::int32_t ratio = b.compress_ratios[s.layer.value];
  return {StatePart::Of::source, source_rows(b), g.kind_of(ratio), ratio};
}

// Some rows of a section that lie side by side in one page.
struct PageRows {
  std::int32_t page;
  std::int64_t in_page, rows;
  std::int64_t at;  // of the section's rows
};

std::vector<PageRows> pages_of(const SnapshotSection& s, const Placing& p, const Timeline& t) {
  std::vector<PageRows> pages;
  for (std::int64_t at = 0; at < s.rows; at += pages.back().rows) {
    const std::int64_t row = s.first + at, in_page = row % p.layout.page_rows;
    const std::int32_t page = p.of == StatePart::Of::tail ? t.slot() : t.page_of(p.kind, row * p.ratio);
    pages.push_back({page, in_page, std::min(s.rows - at, p.layout.page_rows - in_page), at});
  }
  return pages;
}

// Calls `some` with a few neighbours at a time that lie in the same or in different pages, each page once,
// and with room for those pages, which is zeros.
template <class Some>
Result<void> by_pages(const SnapshotSection& s, const Placing& p, const Timeline& t, const Some& some) {
  const std::vector<PageRows> all = pages_of(s, p, t);
  // A tail goes round its slot: two parts, one page.
  const std::size_t at_once = p.of == StatePart::Of::tail ? all.size() : kPagesAtOnce;
  for (std::size_t first = 0; first < all.size(); first += at_once) {
    const std::size_t count = std::min(at_once, all.size() - first);
    const std::size_t pages = p.of == StatePart::Of::tail ? 1 : count;
    std::vector<std::byte> bytes(pages * p.layout.page_bytes);
    std::vector<std::span<std::byte>> page_of(count);
    for (std::size_t i = 0; i < count; ++i) {
      page_of[i] =
          std::span(bytes).subspan(std::min(i, pages - 1) * p.layout.page_bytes, p.layout.page_bytes);
    }
    TRY(some(std::span(all).subspan(first, count), std::span(page_of)));
  }
  return {};
}

}  // namespace

Result<void> read_rows(Pipeline& pipeline, const Blueprint& blueprint, const Timeline& timeline,
                       const SnapshotSection& s, std::span<std::byte> packed) {
  const Placing p = placing_of(s, blueprint, pipeline.geometry());
  using Parts = std::span<const PageRows>;
  return by_pages(s, p, timeline, [&](Parts parts, std::span<std::span<std::byte>> pages) -> Result<void> {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      pipeline.read({p.of, s.layer, parts[i].page}, pages[i]);
    }
    TRY(pipeline.finish());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto& [page, in_page, rows, at] = parts[i];
      pack_rows(p.layout, pages[i], in_page, rows, packed.subspan(at * s.row_bytes, rows * s.row_bytes));
    }
    return {};
  });
}

Result<void> write_rows(Pipeline& pipeline, const Blueprint& blueprint, const Timeline& timeline,
                        const SnapshotSection& s, Bytes packed) {
  const Placing p = placing_of(s, blueprint, pipeline.geometry());
  using Parts = std::span<const PageRows>;
  return by_pages(s, p, timeline, [&](Parts parts, std::span<std::span<std::byte>> pages) -> Result<void> {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto& [page, in_page, rows, at] = parts[i];
      unpack_rows(p.layout, packed.subspan(at * s.row_bytes, rows * s.row_bytes), in_page, rows, pages[i]);
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
      pipeline.write({p.of, s.layer, parts[i].page}, pages[i]);
    }
    return pipeline.finish();
  });
}

}  // namespace manyspan
