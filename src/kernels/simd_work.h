// simd_work — cuts an operation's scratch into arrays, each aligned to 64 bytes; with null data it only counts.
//
// As carve.h does for the reference, but with nothing that could outlive inlining.
#pragma once

#include "kernels/op.h"
#include "kernels/simd.h"

namespace manyspan::kernels::MANYSPAN_ISA {

class Cutter {
 public:
  MANYSPAN_INLINE explicit Cutter(const Work& work) : data_(work.data) {}

  template <class T>
  MANYSPAN_INLINE T* array(std::int64_t count) {
    T* at = data_ == nullptr ? nullptr : reinterpret_cast<T*>(data_ + bytes_);
    bytes_ += (static_cast<std::size_t>(count) * sizeof(T) + 63) / 64 * 64;
    return at;
  }
  MANYSPAN_INLINE std::size_t bytes() const { return bytes_; }

 private:
  std::byte* data_;
  std::size_t bytes_ = 0;
};

}  // namespace manyspan::kernels::MANYSPAN_ISA
