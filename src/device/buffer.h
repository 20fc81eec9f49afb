// Buffer — owns a run of bytes wherever they live: heap, pinned host memory, a mapped file, a GPU.
// One type for all of them, because owning differs only in how the bytes are given back.
#pragma once

#include <cstddef>
#include <utility>

namespace manyspan {

class Buffer {
 public:
  // Gives the bytes back to whoever `owner` is.
  using Release = void (*)(void* owner, std::byte* data, std::size_t bytes);

  Buffer() = default;
  Buffer(std::byte* data, std::size_t bytes, Release release, void* owner)
      : data_(data), bytes_(bytes), release_(release), owner_(owner) {}
  Buffer(Buffer&& other) noexcept { *this = std::move(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(release_, other.release_);
    std::swap(owner_, other.owner_);
    return *this;
  }
  ~Buffer() {
    if (data_ != nullptr) release_(owner_, data_, bytes_);
  }

  // The bytes as elements of T. Whether the caller may touch them is the device's affair.
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  Release release_ = nullptr;
  void* owner_ = nullptr;  // borrowed; outlives the buffer
};

}  // namespace manyspan
