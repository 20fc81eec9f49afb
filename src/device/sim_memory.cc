#include "device/sim_memory.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <sys/mman.h>

#include "base/check.h"

namespace manyspan {
namespace {

constexpr std::align_val_t kAlignment{256};
constexpr std::size_t kGap = 4096;  // between two buffers, and what their addresses are a multiple of
constexpr int kPoison = 0xff;       // of bf16 and f32 a NaN, of counts and pages -1

std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

}  // namespace

Result<std::unique_ptr<SimMemory>> SimMemory::create(std::string name, std::size_t most) {
  void* base = mmap(nullptr, kSimAddresses, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return Error(Fault::exhausted, name + ": the system gives no addresses");
  return std::unique_ptr<SimMemory>(new SimMemory(std::move(name), most, static_cast<std::byte*>(base)));
}

SimMemory::~SimMemory() {
  CHECK(live_ == 0, "a buffer of a simulated device outlives its world");
  munmap(base_, kSimAddresses);
}

Result<Buffer> SimMemory::allocate(std::size_t bytes) {
  const auto refuse = [&](const std::string& why) {
    return Error(Fault::exhausted, name_ + ": no " + std::to_string(bytes) + " bytes of memory: " + why);
  };
  if (bytes > kSimAddresses - given_ - std::min(kSimAddresses - given_, 2 * kGap)) {
    return refuse("its addresses are used up");
  }
  if (most_ != 0 && bytes > most_ - in_use_) {
    return refuse(std::to_string(in_use_) + " of " + std::to_string(most_) + " are in use");
  }
  void* data = ::operator new(std::max<std::size_t>(bytes, 1), kAlignment, std::nothrow);
  if (data == nullptr) return refuse("the host has no more");
  std::memset(data, kPoison, bytes);
  std::byte* address = base_ + given_;
  given_ += (bytes + 2 * kGap - 1) / kGap * kGap;
  blocks_.push_back({number(address), bytes, static_cast<std::byte*>(data), {}});
  in_use_ += bytes;
  ++live_;
  return Buffer(
      address, bytes,
      [](void* owner, std::byte* p, std::size_t) { static_cast<SimMemory*>(owner)->release(p); }, this);
}

void SimMemory::release(std::byte* address) {
  Block* b = block(address);
  CHECK(b != nullptr && b->data != nullptr, "only what was given out is given back, and once");
  std::memset(b->data, kPoison, b->bytes);
  ::operator delete(b->data, kAlignment);
  b->data = nullptr;
  b->accesses = {};
  in_use_ -= b->bytes;
  --live_;
}

bool SimMemory::holds(const void* address) const {
  return number(address) >= number(base_) && number(address) < number(base_) + kSimAddresses;
}

SimMemory::Block* SimMemory::block(const void* address) {
  const std::uintptr_t at = number(address);
  const auto in = [&](const Block& b) { return at >= b.begin && at <= b.end(); };
  if (last_ < blocks_.size() && in(blocks_[last_])) return &blocks_[last_];
  const auto after = std::upper_bound(blocks_.begin(), blocks_.end(), at,
                                      [](std::uintptr_t a, const Block& b) { return a < b.begin; });
  if (after == blocks_.begin() || !in(*(after - 1))) return nullptr;
  last_ = static_cast<std::size_t>(after - blocks_.begin()) - 1;
  return &blocks_[last_];
}

void* SimMemory::find(const void* address, const SimExtent& extent, std::string& why) {
  Block* b = block(address);
  if (b == nullptr) {
    why = "is an address that " + name_ + " never gave out";
  } else if (b->data == nullptr) {
    why = "is freed memory of " + name_;
  } else if (static_cast<std::size_t>(extent.bytes()) > b->end() - number(address)) {
    why = "wants " + std::to_string(extent.bytes()) + " bytes where " +
          std::to_string(b->end() - number(address)) + " of a buffer of " + name_ + " are left";
  } else {
    return b->data + (number(address) - b->begin);
  }
  return nullptr;
}

}  // namespace manyspan
