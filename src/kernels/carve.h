// carve — cuts an operation's scratch into arrays, each aligned to 64 bytes.
//
// With null data it only counts, so that workspace() and enqueue share one list of arrays.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "kernels/op.h"

namespace manyspan::kernels {

class Carve {
 public:
  Carve() = default;
  explicit Carve(const Work& work) : data_(work.data), limit_(work.bytes) {}

  template <class T>
  T* array(std::int64_t count) {
    T* at = data_ == nullptr ? nullptr : reinterpret_cast<T*>(data_ + bytes_);
    bytes_ += (static_cast<std::size_t>(count) * sizeof(T) + 63) / 64 * 64;
    CHECK(data_ == nullptr || bytes_ <= limit_, "scratch is smaller than workspace() said");
    return at;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t limit_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace manyspan::kernels
