// op — what a table holds for one operation: how to enqueue it, what it needs, what it cannot do.
//
// A parameter struct is a plain value: views, numbers, no addresses of host data that change between steps.
// It lists its views once, in `views(see)`, and several readers share that list: the byte count of a
// benchmark today, the simulated device's address translation and happens-before checks when it moves in.
//
//   see.in(view)   read     see.out(view)   written whole     see.inout(view)   read and written
//   see.pool(p)    pages or rings, of which an operation touches what the batch names
//
// Threads    enqueue from the thread that owns the queue
// Spec       interfaces.md A1, A5, A10
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "device/device.h"
#include "tensor/view.h"
#include "tensor/weight.h"

namespace manyspan::kernels {

template <class P>
struct Op {
  void (*enqueue)(Queue&, const P&);  // never blocks, allocates or fails
  std::size_t (*workspace)(
      const P& largest);             // bytes of p.work; pure; asked once, while planning, views may be null
  const char* (*refuses)(const P&);  // null, or why not; asked while planning, never in a step
};

// For an operation that needs no scratch and takes every shape its header allows.
template <class P>
std::size_t no_work(const P&) {
  return 0;
}
template <class P>
const char* takes_all(const P&) {
  return nullptr;
}

// Scratch of one operation, at least as large as its workspace() said. Aligned to 256.
struct Work {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};

// Rows past *used are neither read nor written. Null: all rows count.
inline std::int64_t rows_used(std::int64_t rows, const std::int32_t* used) {
  return used == nullptr || *used > rows ? rows : *used;
}

template <class P>
constexpr bool kIsParams = std::is_trivially_copyable_v<P> && sizeof(P) <= 2048;

// Least bytes that an operation with dense views moves: each input read once, each output written once.
class BytesSeen {
 public:
  template <class T>
  void in(const Rows<T>& r) {
    bytes_ += r.data == nullptr ? 0 : r.rows * r.cols * std::int64_t{sizeof(T)};
  }
  template <class T>
  void in(const T* p, std::int64_t count) {
    bytes_ += p == nullptr ? 0 : count * std::int64_t{sizeof(T)};
  }
  void in(const Weight& w) { bytes_ += w.codes == nullptr ? 0 : code_bytes(w) + scale_bytes(w); }
  template <class... A>
  void out(const A&... a) {
    in(a...);
  }
  template <class... A>
  void inout(const A&... a) {
    in(a...), in(a...);
  }
  void pool(const std::byte*) {}
  std::int64_t bytes() const { return bytes_; }

 private:
  std::int64_t bytes_ = 0;
};

template <class P>
std::int64_t least_bytes(const P& p) {
  BytesSeen seen;
  p.views(seen);
  return seen.bytes();
}

}  // namespace manyspan::kernels
