#include "convert/files.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/check.h"
#include "container/safetensors_write.h"
#include "prepared/source_rows.h"
#include "spec/config_text.h"

namespace manyspan {
namespace {

constexpr std::uint64_t kGgufAlignment = 32;
constexpr std::int64_t kPieceBytes = 8 << 20;
constexpr std::int64_t kScaleRows = 128;  // no scale is shared by more rows

std::uint64_t padded(std::uint64_t bytes, std::uint64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// Runs of tensors whose bytes stay under the limit, where one tensor does not have more.
std::vector<std::vector<PlannedTensor>> dealt(const ConvertPlan& plan, std::uint64_t most,
                                              std::uint64_t alignment) {
  std::vector<std::vector<PlannedTensor>> files(1);
  std::uint64_t bytes = 0;
  for (const PlannedTensor& t : plan.tensors) {
    const std::uint64_t more = padded(t.outline.bytes, alignment);
    if (most != 0 && !files.back().empty() && bytes + more > most) files.emplace_back(), bytes = 0;
    files.back().push_back(t);
    bytes += more;
  }
  return files;
}

std::vector<TensorOutline> outlines(const std::vector<PlannedTensor>& tensors) {
  std::vector<TensorOutline> list;
  for (const PlannedTensor& t : tensors) list.push_back(t.outline);
  return list;
}

void count_bytes(ResultFile& file) {
  file.bytes = file.front.size();
  for (const PlannedTensor& t : file.tensors)
    file.bytes += &t == &file.tensors.back() ? t.outline.bytes : padded(t.outline.bytes, file.alignment);
}

// Bytes of one element, as a file's tensors are put in order by: wide ones first stay aligned.
int width(StoredType type) { return block_of(type).bytes; }

class Maker {
 public:
  Maker(const Weights& weights, std::uint64_t from, const TakeBytes& take)
      : weights_(weights), from_(from), take_(take) {}

  // Of bytes that are at hand.
  Result<bool> give(Bytes bytes) {
    const std::uint64_t begin = at_;
    at_ += bytes.size();
    if (at_ <= from_) return true;
    if (begin < from_) bytes = bytes.subspan(from_ - begin);
    return take_(bytes);
  }

  Result<bool> give(const PlannedTensor& t) {
    if (at_ + t.outline.bytes <= from_) {
      at_ += t.outline.bytes;
      return true;
    }
    if (t.plane.making == Making::factors) {
      std::vector<float> all;
      for (const MatrixSource* m : t.matrices) all.push_back(m->factor);
      return give(std::as_bytes(std::span(all)));
    }
    for (const MatrixSource* m : t.matrices) {
      if (!TRY(give(t, *m))) return false;
    }
    return true;
  }

 private:
  Result<bool> give(const PlannedTensor& t, const MatrixSource& m) {
    const std::int64_t step = piece_rows(t, m);
    for (std::int64_t first = 0; first < m.rows; first += step) {
      const SourceRows rows{&m, first, std::min(step, m.rows - first)};
      // Scales of 32 rows that share them are one row.
      const std::int64_t shared = t.rows == m.rows ? 1 : (m.rows + t.rows - 1) / t.rows;
      const std::int64_t made = (rows.count + shared - 1) / shared;
      const std::size_t bytes = static_cast<std::size_t>(made * row_bytes(t.plane));
      if (at_ + bytes <= from_) {
        at_ += bytes;
        continue;
      }
      room_.resize(std::max(room_.size(), static_cast<std::size_t>(rows.room_bytes())));
      out_.resize(std::max(out_.size(), bytes));
      const Weight w = TRY(rows.read(weights_, room_.data(), nullptr));
      const std::span<std::byte> out = std::span(out_).first(bytes);
      if (shared > 1) {
        CHECK(t.plane.making == Making::copy_scales, "only scales are shared by rows");
        std::memcpy(out.data(), w.scales, bytes);
      } else if (auto done = make_rows(t.plane, w, first, out); !done.ok()) {
        return std::move(done).error().within(m.place);
      }
      rows.advise(weights_, Access::done);
      if (!TRY(give(out))) return false;
    }
    return true;
  }

  static std::int64_t piece_rows(const PlannedTensor& t, const MatrixSource& m) {
    const std::int64_t read = SourceRows{&m, 0, m.rows}.bytes() / m.rows + 1,
                       row = std::max({read, row_bytes(t.plane), std::int64_t{1}});
    const std::int64_t rows = std::clamp<std::int64_t>(kPieceBytes / row, 1, m.rows);
    const bool alone = m.scales.empty() || m.encoding == Encoding::mxfp8 || m.encoding == Encoding::mxfp4 ||
                       m.encoding == Encoding::nvfp4;
    return alone ? rows : std::max(rows / kScaleRows, std::int64_t{1}) * kScaleRows;
  }

  const Weights& weights_;
  std::uint64_t from_, at_ = 0;
  const TakeBytes& take_;
  std::vector<std::byte> room_, out_;
};

}  // namespace

Result<std::vector<ResultFile>> gguf_files(const ConvertPlan& plan, const GgufKeys& keys,
                                           std::uint64_t most_bytes) {
  std::vector<ResultFile> files;
  std::vector<std::vector<PlannedTensor>> parts = dealt(plan, most_bytes, kGgufAlignment);
  if (parts.size() > std::numeric_limits<std::uint16_t>::max()) {
    return Error(Fault::invalid, std::to_string(parts.size()) + " parts, more than a split set's 65535");
  }
  for (std::vector<PlannedTensor>& tensors : parts) {
    GgufKeys own = files.empty() ? keys : GgufKeys();
    if (parts.size() > 1) {
      own.add("split.no", static_cast<std::uint16_t>(files.size()));
      own.add("split.count", static_cast<std::uint16_t>(parts.size()));
      own.add("split.tensors.count", static_cast<std::int32_t>(plan.tensors.size()));
    }
    ResultFile file{TRY(gguf_front(std::move(own), outlines(tensors))), std::move(tensors), kGgufAlignment};
    count_bytes(file);
    files.push_back(std::move(file));
  }
  return files;
}

Result<std::vector<ResultFile>> safetensors_files(const ConvertPlan& plan, std::uint64_t most_bytes) {
  std::vector<ResultFile> files;
  for (std::vector<PlannedTensor>& tensors : dealt(plan, most_bytes, 1)) {
    std::stable_sort(tensors.begin(), tensors.end(), [](const PlannedTensor& a, const PlannedTensor& b) {
      return width(a.outline.type) > width(b.outline.type);
    });
    ResultFile file{TRY(safetensors_front(outlines(tensors), {{"format", "pt"}})), std::move(tensors)};
    count_bytes(file);
    files.push_back(std::move(file));
  }
  return files;
}

std::string index_of(const std::vector<ResultFile>& files, const Place& place) {
  Json::Object map;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (const PlannedTensor& t : files[i].tensors) {
      map.push_back({t.outline.name, place.file_name(i, files.size())});
      total += t.outline.bytes;
    }
  }
  std::sort(map.begin(), map.end(), [](const JsonMember& a, const JsonMember& b) { return a.key < b.key; });
  Json index = Json::Object{}, metadata = Json::Object{};
  metadata.set("total_size", total);
  index.set("metadata", std::move(metadata));
  index.set("weight_map", std::move(map));
  return indented_json(index);
}

Result<void> make_file(const Weights& weights, const ResultFile& file, std::uint64_t from,
                       const TakeBytes& take) {
  Maker maker(weights, from, take);
  if (!TRY(maker.give(bytes_of(file.front)))) return {};
  const std::string zeros(file.alignment, '\0');
  for (const PlannedTensor& t : file.tensors) {
    if (!TRY(maker.give(t))) return {};
    const std::uint64_t gap = padded(t.outline.bytes, file.alignment) - t.outline.bytes;
    if (gap == 0 || &t == &file.tensors.back()) continue;
    if (!TRY(maker.give(bytes_of(std::string_view(zeros).substr(0, gap))))) return {};
  }
  return {};
}

}  // namespace manyspan
