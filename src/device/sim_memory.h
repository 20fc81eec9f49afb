// sim_memory — a simulated device's memory: addresses that nobody can touch, and the bytes behind them.
//
// The addresses are one mapping without access rights; buffers lie in it with gaps between them and are never
// given out twice. The bytes of each buffer are an allocation of their own, so that a sanitizer sees an
// operation that runs over its end.
//
// Owns       the mapping and the bytes; buffers that it gave out must be gone before it is
// Errors     allocate: exhausted
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/buffer.h"
#include "device/sim_races.h"

namespace manyspan {

// Addresses that a device can give out in its life.
inline constexpr std::size_t kSimAddresses = std::size_t{256} << 30;

class SimMemory {
 public:
  struct Block {
    std::uintptr_t begin = 0;
    std::size_t bytes = 0;
    std::byte* data = nullptr;  // where the bytes really are; null: freed
    SimAccesses accesses;

    std::uintptr_t end() const { return begin + bytes; }
  };

  // `most` 0: no bound.
  static Result<std::unique_ptr<SimMemory>> create(std::string name, std::size_t most);
  ~SimMemory();
  SimMemory(const SimMemory&) = delete;
  SimMemory& operator=(const SimMemory&) = delete;

  const std::string& name() const { return name_; }
  Result<Buffer> allocate(std::size_t bytes);

  bool holds(const void* address) const;  // given out or not
  // The block that an address lies in, freed ones too; its end counts. Null: in none.
  Block* block(const void* address);

  // Where the bytes are; null, and `why` says what is wrong with "it".
  void* find(const void* address, const SimExtent& extent, std::string& why);

  std::size_t bytes_in_use() const { return in_use_; }
  std::int64_t live() const { return live_; }

 private:
  SimMemory(std::string name, std::size_t most, std::byte* base)
      : name_(std::move(name)), most_(most), base_(base) {}
  void release(std::byte* address);

  std::string name_;
  std::size_t most_;
  std::byte* base_;
  std::size_t given_ = 0;      // addresses, gaps included
  std::vector<Block> blocks_;  // ascending
  std::size_t last_ = 0;       // the block found last
  std::size_t in_use_ = 0;
  std::int64_t live_ = 0;
};

}  // namespace manyspan
