#include "model/trace_store.h"

#include <algorithm>
#include <cstring>

namespace manyspan {
namespace {

void fill_padding(TapType type, std::byte* at, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    switch (type) {
      case TapType::bf16: {
        const std::uint16_t minus_infinity = 0xff80;
        std::memcpy(at + 2 * i, &minus_infinity, 2);
        break;
      }
      case TapType::f32: {
        const std::uint32_t minus_infinity = 0xff800000;
        std::memcpy(at + 4 * i, &minus_infinity, 4);
        break;
      }
      case TapType::u8:
        at[i] = std::byte{0};
        break;
      case TapType::i32:
      case TapType::i64:
        std::memset(at + tap_bytes(type) * i, 0xff, tap_bytes(type));
        break;
    }
  }
}

}  // namespace

std::size_t tap_bytes(TapType type) {
  switch (type) {
    case TapType::bf16:
      return 2;
    case TapType::f32:
    case TapType::i32:
      return 4;
    case TapType::i64:
      return 8;
    case TapType::u8:
      return 1;
  }
  return 0;
}

std::string tap_key(std::string_view name, LayerId layer) {
  if (layer == kNoLayer) return std::string(name);
  return "L" + std::to_string(layer.value) + "." + std::string(name);
}

std::byte* TraceStore::want(std::string_view name, LayerId layer, TapType type, std::int64_t rows,
                            std::int64_t cols) {
  const std::string key = tap_key(name, layer);
  if (!wanted_(key)) return nullptr;
  // A deque, so that what was handed out stays where it is.
  Tensor& piece = pieces_[key].emplace_back(Tensor{type, rows, cols, {}});
  piece.bytes.resize(static_cast<std::size_t>(rows) * cols * tap_bytes(type) +
                     1);  // never null, even when empty
  return piece.bytes.data();
}

std::map<std::string, TraceStore::Tensor> TraceStore::joined() const {
  std::map<std::string, Tensor> all;
  for (const auto& [key, pieces] : pieces_) {
    Tensor whole{pieces.front().type, 0, 0, {}};
    for (const Tensor& p : pieces) whole.rows += p.rows, whole.cols = std::max(whole.cols, p.cols);
    const std::size_t unit = tap_bytes(whole.type), row_bytes = whole.cols * unit;
    whole.bytes.resize(whole.rows * row_bytes);
    std::byte* to = whole.bytes.data();
    for (const Tensor& p : pieces) {
      for (std::int64_t r = 0; r < p.rows; ++r, to += row_bytes) {
        if (p.cols != 0) std::memcpy(to, p.bytes.data() + r * p.cols * unit, p.cols * unit);
        fill_padding(whole.type, to + p.cols * unit, whole.cols - p.cols);
      }
    }
    all.emplace(key, std::move(whole));
  }
  return all;
}

}  // namespace manyspan
