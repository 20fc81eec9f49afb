#include "verify/pieces.h"

#include <algorithm>
#include <cmath>

namespace manyspan {
namespace {

class Cutting {
 public:
  Cutting(const PieceOptions& options, std::uint32_t file, bool whole)
      : options_(options), file_(file), whole_(whole) {}

  void gap(std::uint64_t from, std::uint64_t end) {
    if (whole_) cut(-1, from, end, 1, 1);
  }

  void tensor(std::int32_t index, const StoredTensor& t, const Rule& rule) {
    const bool scales = rule.known && rule.plane == Plane::scales;
    cut(index, t.offset, t.offset + t.bytes, static_cast<std::uint64_t>(rule.unit_bytes()),
        scales || whole_ ? 1 : options_.sample);
  }

  std::vector<Piece> take() { return std::move(pieces_); }

 private:
  // Every 1 / share-th part, the first always.
  void cut(std::int32_t tensor, std::uint64_t from, std::uint64_t end, std::uint64_t unit, double share) {
    const std::uint64_t most = std::max<std::uint64_t>(options_.most_bytes / unit, 1) * unit;
    for (std::uint64_t i = 0; from < end; ++i) {
      const std::uint64_t bytes = std::min(most, end - from);
      const auto count = static_cast<double>(i);
      if (i == 0 || share >= 1 || std::floor((count + 1) * share) > std::floor(count * share))
        pieces_.push_back({file_, tensor, from, static_cast<std::uint32_t>(bytes)});
      from += bytes;
    }
  }

  const PieceOptions& options_;
  std::uint32_t file_;
  bool whole_;
  std::vector<Piece> pieces_;
};

// Indices into the container's tensors, by file, in the order of their bytes.
std::vector<std::vector<std::int32_t>> by_file(const Container& container) {
  std::vector<std::vector<std::int32_t>> files(container.files());
  const auto all = container.tensors();
  for (std::size_t i = 0; i < all.size(); ++i) files[all[i].file].push_back(static_cast<std::int32_t>(i));
  const auto offset = [&](std::int32_t i) { return all[static_cast<std::size_t>(i)].offset; };
  for (auto& file : files)
    std::sort(file.begin(), file.end(), [&](auto a, auto b) { return offset(a) < offset(b); });
  return files;
}

// Parts of `at_once` files in turn, then of the next ones.
std::vector<Piece> in_turn(const std::vector<std::vector<Piece>>& files, std::size_t at_once) {
  std::vector<Piece> order;
  for (std::size_t first = 0; first < files.size(); first += at_once) {
    const std::size_t end = std::min(first + at_once, files.size());
    std::size_t longest = 0;
    for (std::size_t f = first; f < end; ++f) longest = std::max(longest, files[f].size());
    for (std::size_t i = 0; i < longest; ++i) {
      for (std::size_t f = first; f < end; ++f) {
        if (i < files[f].size()) order.push_back(files[f][i]);
      }
    }
  }
  return order;
}

}  // namespace

std::vector<Piece> pieces_of(const Container* container, const std::vector<Rule>& rules,
                             const std::vector<FileToRead>& files, const PieceOptions& options) {
  std::vector<std::vector<Piece>> cut;
  const auto tensors = container == nullptr ? std::vector<std::vector<std::int32_t>>() : by_file(*container);
  for (std::size_t f = 0; f < files.size(); ++f) {
    Cutting cutting(options, static_cast<std::uint32_t>(f), files[f].whole);
    std::uint64_t at = 0;
    if (f < tensors.size()) {
      for (const std::int32_t i : tensors[f]) {
        const StoredTensor& t = container->tensors()[static_cast<std::size_t>(i)];
        if (t.bytes == 0) continue;
        cutting.gap(at, t.offset);
        cutting.tensor(i, t, rules[static_cast<std::size_t>(i)]);
        at = t.offset + t.bytes;
      }
    }
    cutting.gap(at, files[f].bytes);
    cut.push_back(cutting.take());
  }
  return in_turn(cut, std::max<std::size_t>(options.at_once, 1));
}

}  // namespace manyspan
