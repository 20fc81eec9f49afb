// op — what a table holds for one operation: how to enqueue it, what it needs, what it cannot do.
//
// A parameter struct is a plain value: views, numbers, no addresses of host data that change between steps.
// It lists every address that it holds once, in `views(see)`, by the name that messages use. Several readers
// share that list: the byte count of a benchmark, and the simulated device, which rewrites addresses through
// it and checks who touches what when. So each address is given as it stands in the struct, never as a copy.
//
//   see.in(name, view)      read      see.out(name, view)   written      see.inout(name, view)   both
//   see.in(name, p, count)  the same of `count` elements; 0: held, but not touched
//   see.look(name, p, n)    n numbers that steer the work, too few to count as traffic
//   see.some_in(name, p)    pools, page tables, tails, large tables: of what lies at p and behind it, the
//   see.some_inout(name, p) operation touches what the batch names
//   see.work(work)          scratch
//
// Threads    enqueue from the thread that owns the queue
// Spec       interfaces.md A1, A5, A10
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "device/device.h"
#include "device/field.h"
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
  void in(Field, Rows<T>& r) {
    bytes_ += r.data == nullptr ? 0 : r.rows * r.cols * std::int64_t{sizeof(T)};
  }
  template <class T>
  void in(Field, T*& p, std::int64_t count) {
    bytes_ += p == nullptr ? 0 : count * std::int64_t{sizeof(T)};
  }
  void in(Field, Weight& w) { bytes_ += w.codes == nullptr ? 0 : code_bytes(w) + scale_bytes(w); }
  template <class V>
  void out(Field f, V& view) {
    in(f, view);
  }
  template <class T>
  void out(Field f, T*& p, std::int64_t count) {
    in(f, p, count);
  }
  template <class V>
  void inout(Field f, V& view) {
    in(f, view), in(f, view);
  }
  template <class T>
  void look(Field, T*&, std::int64_t) {}
  template <class A>
  void some_in(Field, A&) {}
  template <class A>
  void some_inout(Field, A&) {}
  void work(Work&) {}
  std::int64_t bytes() const { return bytes_; }

 private:
  std::int64_t bytes_ = 0;
};

template <class P>
std::int64_t least_bytes(P p) {
  BytesSeen seen;
  p.views(seen);
  return seen.bytes();
}

}  // namespace manyspan::kernels
