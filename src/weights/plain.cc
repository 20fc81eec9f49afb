#include "weights/plain.h"

#include <cstring>

#include "tensor/e8m0.h"

namespace manyspan {
namespace {

// Exact: read_matrices() takes powers of two only.
std::vector<std::byte> as_e8m0(std::span<const std::byte> floats) {
  std::vector<std::byte> codes(floats.size() / sizeof(float));
  for (std::size_t i = 0; i < codes.size(); ++i) {
    float scale;
    std::memcpy(&scale, floats.data() + i * sizeof scale, sizeof scale);
    codes[i] = std::byte{e8m0_ceil(scale)};
  }
  return codes;
}

std::vector<std::byte> with_factors(const MatrixSource& source, const Weight& w) {
  std::vector<std::byte> scales(source.scales.begin(), source.scales.end());
  scales.resize(static_cast<std::size_t>(scale_bytes(w)));
  std::byte* to = scales.data() + factors_at(w);
  for (std::int64_t row = 0; row < source.rows; ++row, to += sizeof(float))
    std::memcpy(to, &source.factor, sizeof(float));
  return scales;
}

}  // namespace

PlainMatrix plain_matrix(const MatrixSource& source) {
  PlainMatrix plain{};
  Weight& w = plain.weight;
  w.codes = source.codes.data();
  w.scales = source.scales.empty() ? nullptr : source.scales.data();
  w.rows = static_cast<std::int32_t>(source.rows);
  w.cols = static_cast<std::int32_t>(source.cols);
  w.encoding = source.encoding;
  if (has_factors(source.encoding))
    plain.scales = with_factors(source, w);
  else if (source.encoding == Encoding::fp8_block128 && source.scale_type == ScaleType::f32)
    plain.scales = as_e8m0(source.scales);
  if (!plain.scales.empty()) w.scales = plain.scales.data();
  return plain;
}

}  // namespace manyspan
