// Placing — one weight after another from the checkpoint's bytes into a device's memory, in a table's layout.
//
// Owns       a staging buffer on the host, as large as the largest weight of one call
// Errors     kept: the first failure stays, later calls do nothing, and done() tells it
// Threads    one thread, which shares the work of a call among the host's team
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "prepared/prepared.h"

namespace manyspan {

class Placing {
 public:
  Placing(const Weights& weights, Device& device, HostDevice& host, const kernels::Table& table,
          Prepared& into)
      : weights_(weights), device_(device), host_(host), table_(table), into_(into) {}

  // A matrix in the table's tiling; `plain` keeps rows whole, for look-ups.
  Weight matrix(Role role, LayerId layer);
  Weight plain(Role role, LayerId layer);
  // Rows [first, first + count) of a matrix, as one of their own.
  Weight rows(Role role, LayerId layer, std::int64_t first, std::int64_t count);
  // `count` equal matrices in a row, each alone or w1 stacked on w3.
  Weight each(Role role, LayerId layer, std::int32_t count);
  Weight pairs(Role first, Role second, LayerId layer, std::int32_t count);

  // Vectors; null where the checkpoint has none.
  const float* floats(Role role, LayerId layer);
  const Bf16* bf16s(Role role, LayerId layer);
  const float* floats(std::span<const float> values);

  std::int64_t read_bytes() const { return read_bytes_; }  // of the checkpoint, so far
  Result<void> done();

 private:
  struct Plain;
  Plain plain_weight(const MatrixSource& source);
  std::vector<Plain> experts(Role role, LayerId layer, std::int32_t count, Encoding encoding);
  Weight place(std::int64_t count, const Weight& one,
               const std::function<void(std::int64_t, std::byte*, std::byte*)>& fill);
  const std::byte* put(const std::byte* bytes, std::size_t count);
  std::vector<float> decoded(const MatrixSource& source);

  const Weights& weights_;
  Device& device_;
  HostDevice& host_;
  const kernels::Table& table_;
  Prepared& into_;
  std::unique_ptr<Queue> queue_;
  std::vector<std::byte> staging_;
  std::int64_t read_bytes_ = 0;
  std::optional<Error> failed_;
};

}  // namespace manyspan
