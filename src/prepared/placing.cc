#include "prepared/placing.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "kernels/layout.h"

namespace manyspan {
namespace {

// A band of rows is about so large; each scale and each tile belongs to one band.
constexpr std::int64_t kBandBytes = 8 << 20, kBandRows = 128;
// So much is asked for before it is read.
constexpr std::int64_t kAheadBytes = 64 << 20;
constexpr std::int64_t kMostStaged = 512 << 20;

std::int64_t rounded(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

// What the first `rows` rows take of an arranged weight's planes.
Weight first_rows(Weight w, std::int64_t rows) {
  w.rows = static_cast<std::int32_t>(rows);
  return w;
}

}  // namespace

Placing::~Placing() {
  if (queue_ == nullptr) return;
  [[maybe_unused]] const auto copied = queue_->finish();  // copies read the staging buffers
}

void Placing::fail(Error error) {
  const std::lock_guard lock(mutex_);
  if (!failed_) failed_ = std::move(error);
  stopped_.store(true, std::memory_order_relaxed);
}

Queue* Placing::queue() {
  if (queue_ != nullptr) return queue_.get();
  auto queue = device_.queue(QueueKind::copy);
  if (!queue.ok()) return fail(std::move(queue).error()), nullptr;
  queue_ = std::move(queue).value();
  return queue_.get();
}

std::byte* Placing::allocate(std::int64_t bytes) {
  auto buffer = device_.allocate(static_cast<std::size_t>(bytes));
  if (!buffer.ok()) return fail(std::move(buffer).error()), nullptr;
  into_.storage.push_back(std::move(buffer).value());
  into_.bytes += bytes;
  return into_.storage.back().as<std::byte>();
}

const std::byte* Placing::put(const std::byte* bytes, std::size_t count) {
  Queue* const copies = stopped_ ? nullptr : queue();
  std::byte* const to = copies == nullptr ? nullptr : allocate(static_cast<std::int64_t>(count));
  if (to == nullptr) return nullptr;
  copies->copy(device_, to, host_, bytes, count);
  if (auto copied = copies->finish(); !copied.ok()) fail(std::move(copied).error());  // `bytes` may go now
  return to;
}

// Room for the bytes of the largest piece, for each thread; what is not written takes no memory.
bool Placing::make_room(std::span<const Piece> pieces) {
  std::int64_t most = 0;
  for (const Piece& piece : pieces) most = std::max(most, piece.room_bytes());
  if (most > room_bytes_) {
    rooms_.clear();
    for (int t = 0; t < host_.workers().threads(); ++t)
      rooms_.push_back(std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(most)));
    room_bytes_ = most;
  }
  return !pieces.empty();
}

void Placing::will_read(std::span<const Piece> pieces, std::int64_t first, std::int64_t count) const {
  for (std::int64_t i = first; i < std::min(first + count, std::ssize(pieces)); ++i) {
    pieces[i].first.advise(weights_, Access::soon);
    if (pieces[i].second) pieces[i].second->advise(weights_, Access::soon);
  }
}

void Placing::arrange(const Piece& piece, std::byte* codes, std::byte* scales, int thread) {
  std::byte* const room = rooms_[static_cast<std::size_t>(thread)].get();
  const auto fill = [&]() -> Result<void> {
    const Weight first = TRY(piece.first.read(weights_, room, wishes_.cancel));
    if (!piece.second) {
      kernels::arrange(first, piece.to, codes, scales);
      return {};
    }
    const Weight second = TRY(piece.second->read(weights_, room + piece.first.room_bytes(), wishes_.cancel));
    kernels::arrange_pair(first, second, piece.to, codes, scales);
    return {};
  };
  if (auto filled = fill(); !filled.ok()) return fail(std::move(filled).error());
  if (wishes_.forget_files) {
    piece.first.advise(weights_, Access::done);
    if (piece.second) piece.second->advise(weights_, Access::done);
  }
  read_bytes_ += piece.source_bytes();
  if (thread == 0 && wishes_.progress) wishes_.progress();
}

void Placing::place_here(std::span<const Piece> pieces, std::byte* codes, std::byte* scales) {
  const std::int64_t ahead = 1 + kAheadBytes / std::max<std::int64_t>(1, room_bytes_);
  will_read(pieces, 0, ahead);
  host_.workers().for_each(std::ssize(pieces), [&](std::int64_t i, int thread) {
    if (stopped_.load(std::memory_order_relaxed)) return;
    will_read(pieces, i + ahead, 1);
    const Piece& piece = pieces[i];
    arrange(piece, codes + piece.codes_at, scales + piece.scales_at, thread);
  });
}

// Null when it failed. The staging buffer's last copies are done.
Placing::Staging* Placing::next_staging(std::int64_t bytes) {
  Staging& s = stagings_[staging_ ^= 1];
  if (queue() == nullptr) return nullptr;
  if (s.copied == nullptr) {
    auto event = device_.event();
    if (!event.ok()) return fail(std::move(event).error()), nullptr;
    s.copied = std::move(event).value();
  }
  if (std::exchange(s.under_way, false)) {
    if (auto copied = queue_->finish(*s.copied); !copied.ok())
      return fail(std::move(copied).error()), nullptr;
  }
  if (s.size < bytes) {
    s.bytes = nullptr;
    s.bytes = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes));
    s.size = bytes;
  }
  return &s;
}

void Placing::place_there(std::span<const Piece> pieces, std::byte* codes, std::byte* scales) {
  const auto code_bytes = [](const Piece& p) { return rounded(kernels::arranged_code_bytes(p.to)); };
  const auto bytes_of = [&](const Piece& p) {
    return code_bytes(p) + rounded(kernels::arranged_scale_bytes(p.to));
  };
  std::int64_t one = 0;
  for (const Piece& piece : pieces) one = std::max(one, bytes_of(piece));
  const std::int64_t at_once = std::clamp<std::int64_t>(kMostStaged / one, 1, host_.workers().threads());
  will_read(pieces, 0, at_once);
  for (std::int64_t from = 0; from < std::ssize(pieces) && !stopped_; from += at_once) {
    const auto some = pieces.subspan(from, std::min(at_once, std::ssize(pieces) - from));
    Staging* const staging = next_staging(at_once * one);
    if (staging == nullptr) return;
    will_read(pieces, from + at_once, at_once);
    host_.workers().for_each(std::ssize(some), [&](std::int64_t i, int thread) {
      if (stopped_.load(std::memory_order_relaxed)) return;
      std::byte* const at = staging->bytes.get() + i * one;
      arrange(some[i], at, at + code_bytes(some[i]), thread);
    });
    if (stopped_) return;
    for (std::int64_t i = 0; i < std::ssize(some); ++i) {
      const Piece& p = some[i];
      const std::byte* const at = staging->bytes.get() + i * one;
      queue_->copy(device_, codes + p.codes_at, host_, at, kernels::arranged_code_bytes(p.to));
      if (const std::int64_t bytes = kernels::arranged_scale_bytes(p.to); bytes != 0)
        queue_->copy(device_, scales + p.scales_at, host_, at + code_bytes(p), bytes);
    }
    queue_->record(*staging->copied);
    staging->under_way = true;
  }
}

Weight Placing::place(const Weight& one, std::int64_t count, const std::vector<Piece>& pieces) {
  if (stopped_ || !make_room(pieces)) return {};
  Weight w = one;
  const std::int64_t code_bytes = kernels::arranged_code_bytes(one),
                     scale_bytes = kernels::arranged_scale_bytes(one);
  if (count > 1) w.next_codes = rounded(code_bytes), w.next_scales = rounded(scale_bytes);
  std::byte* const codes = allocate(count * rounded(code_bytes));
  std::byte* const scales =
      codes == nullptr || scale_bytes == 0 ? nullptr : allocate(count * rounded(scale_bytes));
  if (stopped_) return {};
  if (&device_ == &host_) {
    place_here(pieces, codes, scales);
  } else {
    place_there(pieces, codes, scales);
  }
  w.codes = codes;
  w.scales = scales;
  return w;
}

// Rows of tiles follow one another, and so do the scales of each. Factors of rows stand apart, so these are one piece.
std::vector<Placing::Piece> Placing::bands(const SourceRows& rows, Tiling tiling, std::int64_t codes_at,
                                           std::int64_t scales_at) {
  const Weight whole = kernels::arranged(rows.shape(), tiling, RowOrder::natural);
  const std::int64_t row_bytes =
      std::max<std::int64_t>(1, rows.bytes() / std::max<std::int64_t>(1, rows.count));
  std::int64_t step = std::max<std::int64_t>(1, kBandBytes / (row_bytes * kBandRows)) * kBandRows;
  if (has_factors(rows.source->encoding)) step = rows.count;
  std::vector<Piece> pieces;
  for (std::int64_t from = 0; from < rows.count; from += step) {
    const SourceRows some{rows.source, rows.first + from, std::min(step, rows.count - from)};
    const Weight before = first_rows(whole, from);
    pieces.push_back({some,
                      {},
                      codes_at + kernels::arranged_code_bytes(before),
                      scales_at + kernels::arranged_scale_bytes(before),
                      kernels::arranged(some.shape(), tiling, RowOrder::natural)});
  }
  return pieces;
}

Weight Placing::rows(Role role, LayerId layer, std::int64_t first, std::int64_t count) {
  const SourceRows part{&weights_.at(role, layer), first, count};
  if (!part.whole_scales()) {
    fail(Error(Fault::unsupported, part.source->place + ": groups of " + std::to_string(count) +
                                       " rows cut through its scale blocks"));
    return {};
  }
  return place(kernels::arranged(part.shape(), table_.tiling, RowOrder::natural), 1,
               bands(part, table_.tiling, 0, 0));
}

Weight Placing::matrix(Role role, LayerId layer) {
  return rows(role, layer, 0, weights_.at(role, layer).rows);
}

Weight Placing::plain(Role role, LayerId layer) {
  const SourceRows all = all_rows(weights_.at(role, layer));
  return place(kernels::arranged(all.shape(), Tiling::plain, RowOrder::natural), 1,
               bands(all, Tiling::plain, 0, 0));
}

// Whether all experts are stored alike, as a row of equal weights must be.
bool Placing::same_encoding(Role role, LayerId layer, std::int32_t count, Encoding encoding) {
  for (std::int32_t e = 0; e < count; ++e) {
    const MatrixSource& source = weights_.at(role, layer, e);
    if (source.encoding == encoding) continue;
    fail(Error(Fault::unsupported, source.place + ": " + std::string(name(source.encoding)) +
                                       " where the layer's first expert has " + std::string(name(encoding))));
    return false;
  }
  return true;
}

Weight Placing::each(Role role, LayerId layer, std::int32_t count) {
  const MatrixSource& first = weights_.at(role, layer);
  if (!same_encoding(role, layer, count, first.encoding)) return {};
  const Weight one = kernels::arranged(all_rows(first).shape(), table_.tiling, RowOrder::natural);
  std::vector<Piece> pieces;
  for (std::int64_t e = 0; e < count; ++e) {
    for (Piece& piece : bands(all_rows(weights_.at(role, layer, e)), table_.tiling,
                              e * rounded(kernels::arranged_code_bytes(one)),
                              e * rounded(kernels::arranged_scale_bytes(one)))) {
      pieces.push_back(std::move(piece));
    }
  }
  return place(one, count, pieces);
}

Weight Placing::pairs(Role first, Role second, LayerId layer, std::int32_t count) {
  const MatrixSource& model = weights_.at(first, layer);
  if (!same_encoding(first, layer, count, model.encoding) ||
      !same_encoding(second, layer, count, model.encoding))
    return {};
  const Weight one = kernels::arranged_pair(all_rows(model).shape(), table_.tiling, table_.expert_order);
  std::vector<Piece> pieces;
  for (std::int64_t e = 0; e < count; ++e) {
    pieces.push_back({all_rows(weights_.at(first, layer, e)), all_rows(weights_.at(second, layer, e)),
                      e * rounded(kernels::arranged_code_bytes(one)),
                      e * rounded(kernels::arranged_scale_bytes(one)), one});
  }
  return place(one, count, pieces);
}

std::vector<float> Placing::decoded(const MatrixSource& source) {
  const SourceRows all = all_rows(source);
  std::vector<std::byte> room(static_cast<std::size_t>(all.room_bytes()));
  auto read = all.read(weights_, room.data(), wishes_.cancel);
  if (!read.ok()) return fail(std::move(read).error()), std::vector<float>();
  const Weight to = kernels::arranged(read.value(), Tiling::plain, RowOrder::natural);
  Weight placed = to;
  std::vector<std::byte> codes(kernels::arranged_code_bytes(to)), scales(kernels::arranged_scale_bytes(to));
  kernels::arrange(read.value(), to, codes.data(), scales.data());
  placed.codes = codes.data();
  placed.scales = scales.empty() ? nullptr : scales.data();
  std::vector<float> out(source.rows * source.cols);
  for (std::int64_t r = 0; r < source.rows; ++r)
    values(placed, r, 0, source.cols, out.data() + r * source.cols);
  read_bytes_ += all.bytes();
  return out;
}

const float* Placing::floats(std::span<const float> values) {
  return reinterpret_cast<const float*>(
      put(reinterpret_cast<const std::byte*>(values.data()), values.size_bytes()));
}

const float* Placing::floats(Role role, LayerId layer) {
  const MatrixSource* source = weights_.find(role, layer);
  if (source == nullptr || stopped_) return nullptr;
  const std::vector<float> wide = decoded(*source);
  return floats(wide);
}

const Bf16* Placing::bf16s(Role role, LayerId layer) {
  const MatrixSource* source = weights_.find(role, layer);
  if (source == nullptr || stopped_) return nullptr;
  std::vector<Bf16> narrow;
  for (const float f : decoded(*source)) narrow.push_back(to_bf16(f));
  return reinterpret_cast<const Bf16*>(
      put(reinterpret_cast<const std::byte*>(narrow.data()), narrow.size() * sizeof(Bf16)));
}

Result<void> Placing::done() {
  if (!failed_ && queue_ != nullptr) {
    if (auto copied = queue_->finish(); !copied.ok()) fail(std::move(copied).error());
  }
  if (failed_) return *failed_;
  return {};
}

}  // namespace manyspan
