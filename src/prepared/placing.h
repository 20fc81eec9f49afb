// Placing — one weight after another from the checkpoint's files into a device's memory, in a table's layout.
//
// A weight is worked on in pieces: an expert, or a band of rows. The host's team reads, checks and arranges several at
// once, and the system is told what will be read next. On the host a piece is arranged where it stays; for another
// device it is arranged in one of two staging buffers, while the other's copies are under way.
//
// Owns       a buffer for the bytes of one piece for each thread of the team; two staging buffers unless the device is
//            the host
// Errors     kept: the first failure stays, later calls do nothing, and done() tells it
// Threads    one thread, which shares the work of a call among the host's team
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "prepared/prepared.h"
#include "prepared/source_rows.h"

namespace manyspan {

// How a load goes about it.
struct PlacingWishes {
  const Cancel* cancel = nullptr;
  std::function<void()> progress{};  // between pieces, on the calling thread
  bool forget_files = false;         // what was read leaves the system's file cache
};

class Placing {
 public:
  Placing(const Weights& weights, Device& device, HostDevice& host, const kernels::Table& table,
          Prepared& into, PlacingWishes wishes)
      : weights_(weights),
        device_(device),
        host_(host),
        table_(table),
        into_(into),
        wishes_(std::move(wishes)) {}
  ~Placing();

  // A matrix in the table's tiling; `plain` keeps rows whole, for look-ups.
  Weight matrix(Role role, LayerId layer);
  Weight plain(Role role, LayerId layer);
  // Rows [first, first + count) of a matrix, as one of their own.
  Weight rows(Role role, LayerId layer, std::int64_t first, std::int64_t count);
  // `count` equal matrices in a row, each alone or w1 stacked on w3.
  Weight each(Role role, LayerId layer, std::int32_t count);
  Weight pairs(Role first, Role second, LayerId layer, std::int32_t count);

  // Vectors; null where the checkpoint has none.
  const float* floats(Role role, LayerId layer);
  const Bf16* bf16s(Role role, LayerId layer);
  const float* floats(std::span<const float> values);

  std::int64_t read_bytes() const { return read_bytes_; }  // of the checkpoint, so far
  // Waits until all that was placed is there.
  Result<void> done();

 private:
  // Rows of one matrix, or as many of two that are stacked, and where they go in the weight's planes.
  struct Piece {
    SourceRows first;
    std::optional<SourceRows> second;
    std::int64_t codes_at, scales_at;
    Weight to;  // the piece alone, arranged

    std::int64_t source_bytes() const { return first.bytes() + (second ? second->bytes() : 0); }
    std::int64_t room_bytes() const { return first.room_bytes() + (second ? second->room_bytes() : 0); }
  };
  struct Staging {
    std::unique_ptr<std::byte[]> bytes;
    std::int64_t size = 0;
    std::unique_ptr<Event> copied;
    bool under_way = false;
  };

  std::vector<Piece> bands(const SourceRows& rows, Tiling tiling, std::int64_t codes_at,
                           std::int64_t scales_at);
  Weight place(const Weight& one, std::int64_t count, const std::vector<Piece>& pieces);
  void place_here(std::span<const Piece> pieces, std::byte* codes, std::byte* scales);
  void place_there(std::span<const Piece> pieces, std::byte* codes, std::byte* scales);
  void arrange(const Piece& piece, std::byte* codes, std::byte* scales, int thread);
  void will_read(std::span<const Piece> pieces, std::int64_t first, std::int64_t count) const;
  bool make_room(std::span<const Piece> pieces);
  Staging* next_staging(std::int64_t bytes);
  bool same_encoding(Role role, LayerId layer, std::int32_t count, Encoding encoding);
  Queue* queue();
  std::byte* allocate(std::int64_t bytes);
  const std::byte* put(const std::byte* bytes, std::size_t count);
  std::vector<float> decoded(const MatrixSource& source);
  void fail(Error error);

  const Weights& weights_;
  Device& device_;
  HostDevice& host_;
  const kernels::Table& table_;
  Prepared& into_;
  PlacingWishes wishes_;
  std::unique_ptr<Queue> queue_;
  std::vector<std::unique_ptr<std::byte[]>> rooms_;  // of each thread
  std::int64_t room_bytes_ = 0;
  Staging stagings_[2];
  int staging_ = 0;
  std::atomic<std::int64_t> read_bytes_{0};
  std::atomic<bool> stopped_{false};  // failed_ holds something
  std::mutex mutex_;                  // of failed_, while the team works
  std::optional<Error> failed_;
};

}  // namespace manyspan
