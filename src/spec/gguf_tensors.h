// gguf_tensors — what a GGUF's tensors tell about the layers: which blocks have one of a kind, and its shape.
#pragma once

#include <algorithm>
#include <string>

#include "spec/gguf_blueprint.h"

namespace manyspan {

class GgufTensors {
 public:
  explicit GgufTensors(std::span<const GgufTensor> ascending) : tensors_(ascending) {}

  // Null where there is none.
  const GgufTensor* find(std::string_view name) const {
    const auto at = std::lower_bound(tensors_.begin(), tensors_.end(), name,
                                     [](const GgufTensor& t, std::string_view n) { return t.name < n; });
    return at != tensors_.end() && at->name == name ? &*at : nullptr;
  }
  const GgufTensor* in_block(std::int64_t block, std::string_view rest) const {
    return find(("blk." + std::to_string(block) + ".").append(rest));
  }

  // The blocks below `count` that have it.
  std::vector<std::int64_t> blocks_with(std::string_view rest, std::int64_t count) const {
    std::vector<std::int64_t> blocks;
    for (std::int64_t b = 0; b < count; ++b) {
      if (in_block(b, rest) != nullptr) blocks.push_back(b);
    }
    return blocks;
  }

  bool empty() const { return tensors_.empty(); }

 private:
  std::span<const GgufTensor> tensors_;
};

inline std::int64_t rows_of(const GgufTensor& tensor) {
  return tensor.shape.size() > 1 ? tensor.shape[0] : 1;
}
inline std::int64_t cols_of(const GgufTensor& tensor) {
  return tensor.shape.empty() ? 1 : tensor.shape.back();
}

}  // namespace manyspan
