// Carver — hands out aligned pieces of a device's memory, which may not be there: then it only counts.
//
// Owns       nothing
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/view.h"

namespace manyspan {

class Carver {
 public:
  // Null: pieces are null too.
  explicit Carver(std::byte* memory) : memory_(memory) {}

  template <class T>
  T* take(std::int64_t count) {
    T* at = memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + used_);
    used_ += (static_cast<std::size_t>(count) * sizeof(T) + 255) / 256 * 256;
    return at;
  }
  template <class T>
  Rows<T> rows(std::int64_t rows, std::int64_t cols) {
    return {take<T>(rows * cols), rows, cols, cols};
  }
  std::size_t used() const { return used_; }

 private:
  std::byte* memory_;
  std::size_t used_ = 0;
};

}  // namespace manyspan
