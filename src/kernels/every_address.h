// every_address — turns every verb of `views` into one: at(field, pointer, extent, writes).
//
// at() gets the pointer as it stands in the parameters and may rewrite it. Null pointers are passed over.
#pragma once

#include <utility>

#include "device/sim_operation.h"
#include "kernels/op.h"

namespace manyspan::kernels {

template <class At>
class EveryAddress {
 public:
  explicit EveryAddress(At at) : at_(std::move(at)) {}

  template <class V>
  void in(Field f, V& view) {
    see(f, view, false);
  }
  template <class V>
  void out(Field f, V& view) {
    see(f, view, true);
  }
  template <class V>
  void inout(Field f, V& view) {
    see(f, view, true);
  }
  template <class T>
  void in(Field f, T*& p, std::int64_t count) {
    see(f, p, count, false);
  }
  template <class T>
  void out(Field f, T*& p, std::int64_t count) {
    see(f, p, count, true);
  }
  template <class T>
  void look(Field f, T*& p, std::int64_t count) {
    see(f, p, count, false);
  }
  template <class T>
  void some_in(Field f, T*& p) {
    one(f, p, {.rest = true}, false);
  }
  template <class T>
  void some_inout(Field f, T*& p) {
    one(f, p, {.rest = true}, true);
  }
  void some_in(Field f, Weight& w) { see(f, w, false); }
  void work(Work& w) { see("work", w.data, static_cast<std::int64_t>(w.bytes), true); }

 private:
  template <class T>
  void see(Field f, Rows<T>& r, bool writes) {
    constexpr std::int64_t kSize = sizeof(T);
    one(f, r.data, {.row_bytes = r.cols * kSize, .rows = r.rows, .stride = r.stride * kSize}, writes);
  }
  template <class T>
  void see(Field f, T*& p, std::int64_t count, bool writes) {
    one(f, p, {.row_bytes = count * std::int64_t{sizeof(T)}}, writes);
  }
  // Of a row of matrices only the parameters' other fields know how many there are: all that follow.
  void see(Field f, Weight& w, bool writes) {
    one(f, w.codes, {.row_bytes = w.codes == nullptr ? 0 : code_bytes(w), .rest = w.next_codes != 0}, writes);
    one(f, w.scales, {.row_bytes = w.scales == nullptr ? 0 : scale_bytes(w), .rest = w.next_scales != 0},
        writes);
  }
  template <class T>
  void one(Field f, T*& p, const SimExtent& extent, bool writes) {
    if (p != nullptr) at_(f, p, extent, writes);
  }

  At at_;
};

}  // namespace manyspan::kernels
