// trace — named intermediates of a step, for conformance and tests. Nobody asks: a null pointer, one branch a
// tap.
//
// The names are the oracle's: "attn_in", "kv_rows", ...; with the layer they make keys as "L3.attn_in".
//
// Threads    the thread that runs the step
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "base/ids.h"
#include "tensor/bf16.h"
#include "tensor/view.h"

namespace manyspan {

enum class TapType : std::uint8_t { bf16, f32, i32, i64, u8 };

template <class T>
constexpr TapType kTapType = std::is_same_v<T, Bf16>           ? TapType::bf16
                             : std::is_same_v<T, float>        ? TapType::f32
                             : std::is_same_v<T, std::int32_t> ? TapType::i32
                             : std::is_same_v<T, std::int64_t> ? TapType::i64
                                                               : TapType::u8;

inline constexpr LayerId kNoLayer{
    -1};  // of taps that belong to no layer: x_out, pre_out, final_norm, main_hidden

class Trace {
 public:
  virtual ~Trace() = default;

  // Room for `rows` more rows of a tap, zeroed; null when nobody wants it. Valid until the step has finished.
  virtual std::byte* want(std::string_view name, LayerId layer, TapType type, std::int64_t rows,
                          std::int64_t cols) = 0;

  template <class T>
  Rows<T> rows(std::string_view name, LayerId layer, std::int64_t rows, std::int64_t cols) {
    return {reinterpret_cast<T*>(want(name, layer, kTapType<T>, rows, cols)), rows, cols, cols};
  }
};

}  // namespace manyspan
