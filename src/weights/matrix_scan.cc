#include "weights/matrix_scan.h"

#include <cmath>

#include "tensor/block_scan.h"
#include "tensor/weight.h"
#include "weights/nan_scan.h"

namespace manyspan {
namespace {

constexpr float kMostFp8 = 448, kMostNvfp4 = 6 * 448;

std::optional<BadNumber> among_floats(const MatrixSource& m) {
  const auto first = m.encoding == Encoding::f32   ? first_unbounded_f32
                     : m.encoding == Encoding::f16 ? first_unbounded_f16
                                                   : first_unbounded_bf16;
  const auto at = first(m.codes);
  if (!at) return std::nullopt;
  return BadNumber{false, "number " + std::to_string(*at) + " is NaN or infinite"};
}

std::optional<BadNumber> in_a_block(const MatrixSource& m) {
  const auto bad = first_bad_block(m.encoding, m.codes);
  if (!bad) return std::nullopt;
  return BadNumber{false, "block " + std::to_string(bad->block) + ": " + std::string(bad->what)};
}

// Floats of any worth, as fp8_block128_f32 has them.
std::optional<BadNumber> among_free_scales(const MatrixSource& m) {
  const auto at = first_f32_beyond(m.scales, kMostFp8);
  if (!at) return std::nullopt;
  return BadNumber{true,
                   "scale " + std::to_string(*at) +
                       " is no number, or F32 does not hold its product with 448, the largest FP8 code"};
}

std::optional<BadNumber> among_scales(const MatrixSource& m) {
  if (m.encoding == Encoding::fp8_block128_f32) return among_free_scales(m);
  const bool fp4 = code_bits(m.encoding) == 4, e8m0 = m.scale_type == ScaleType::e8m0;
  const std::uint8_t most = fp4 ? kMostFp4Scale : kMostFp8Scale;
  const auto at = m.scale_type == ScaleType::e4m3 ? first_fp8_nan(m.scales)
                  : e8m0                          ? first_e8m0_above(m.scales, most)
                                                  : first_scale_above(m.scales, most);
  if (!at) return std::nullopt;
  const std::string scale = "scale " + std::to_string(*at) + " is ";
  const bool nan = m.scale_type == ScaleType::e4m3 || (e8m0 && m.scales[*at] == std::byte{kE8m0Nan});
  if (nan) return BadNumber{true, scale + "NaN"};
  return BadNumber{true, scale + "above 2^" + std::to_string(most - 127) +
                             ": F32 does not hold its product with " +
                             (fp4 ? "6, the largest FP4 code" : "448, the largest FP8 code")};
}

}  // namespace

std::optional<BadNumber> first_bad_number(const MatrixSource& m) {
  if (is_blocks(m.encoding)) return in_a_block(m);
  if (m.scales.empty()) return among_floats(m);
  if (auto bad = among_scales(m)) return bad;
  if (code_bits(m.encoding) != 8) return std::nullopt;
  const auto at = first_fp8_nan(m.codes);
  if (!at) return std::nullopt;
  return BadNumber{false, "code " + std::to_string(*at) + " is NaN"};
}

bool bad_factor(Encoding encoding, float factor) {
  return has_factors(encoding) && !std::isfinite(factor * kMostNvfp4);
}

}  // namespace manyspan
