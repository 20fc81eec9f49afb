// TraceStore — a trace that keeps what it is asked for, joined over the steps in row order.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "model/trace.h"

namespace manyspan {

class TraceStore final : public Trace {
 public:
  struct Tensor {
    TapType type;
    std::int64_t rows, cols;
    std::vector<std::byte> bytes;  // [rows, cols], row-major
  };

  // `wanted` is asked with the full key, as "L3.attn_in" or "x_out".
  explicit TraceStore(std::function<bool(const std::string&)> wanted) : wanted_(std::move(wanted)) {}

  std::byte* want(std::string_view name, LayerId layer, TapType type, std::int64_t rows,
                  std::int64_t cols) override;

  // Everything taken so far. Steps whose rows differ in width are padded to the widest: f32 and bf16 with
  // -inf, i32 and i64 with -1, u8 with 0.
  std::map<std::string, Tensor> joined() const;

 private:
  std::function<bool(const std::string&)> wanted_;
  std::map<std::string, std::deque<Tensor>> pieces_;
};

// "L3.attn_in"
std::string tap_key(std::string_view name, LayerId layer);

std::size_t tap_bytes(TapType type);

}  // namespace manyspan
