#include "verify/scales_alone.h"

#include <string_view>

#include "weights/names_hf.h"

namespace manyspan {
namespace {

constexpr std::string_view kWeight = ".weight";

const StoredTensor* scale_beside(const Container& container, const StoredTensor& codes) {
  const std::string stem = codes.name.substr(0, codes.name.size() - kWeight.size());
  for (const std::string_view suffix : hf_scale_suffixes()) {
    const StoredTensor* scale = container.find(stem + std::string(suffix));
    if (scale != nullptr) return scale;
  }
  return nullptr;
}

std::int64_t blocks(std::int64_t numbers, std::int64_t each) {
  return numbers / each + (numbers % each != 0 ? 1 : 0);
}

// Whether blocks of 32x32, 128x128 or 1x32 numbers would have such scales.
bool shaped(const StoredTensor& codes, const StoredTensor& scale) {
  if (scale.shape.size() < 2 || scale.shape.size() != codes.shape.size()) return false;
  const std::size_t last = codes.shape.size() - 1;
  for (std::size_t i = 0; i + 1 < last; ++i) {
    if (scale.shape[i] != codes.shape[i]) return false;
  }
  const std::int64_t rows = codes.shape[last - 1], cols = codes.shape[last];
  const std::int64_t some = scale.shape[last - 1], wide = scale.shape[last];
  return (some == blocks(rows, 32) && wide == blocks(cols, 32)) ||
         (some == blocks(rows, 128) && wide == blocks(cols, 128)) ||
         (some == rows && wide == blocks(cols, 32));
}

}  // namespace

std::vector<std::string> faults_of_scales(const Container& container) {
  std::vector<std::string> faults;
  for (const StoredTensor& codes : container.tensors()) {
    if (codes.type != StoredType::f8_e4m3 || codes.shape.size() < 2 || !codes.name.ends_with(kWeight))
      continue;
    const StoredTensor* scale = scale_beside(container, codes);
    if (scale == nullptr) {
      faults.push_back(container.place(codes) + ": no scale, which " + described(codes) + " needs");
    } else if (!shaped(codes, *scale)) {
      faults.push_back(container.place(*scale) + ": scale is " + described(*scale) +
                       ", which is that of no 32x32, 128x128 or 1x32 blocks of " + described(codes));
    }
  }
  return faults;
}

}  // namespace manyspan
