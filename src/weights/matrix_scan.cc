#include "weights/matrix_scan.h"

#include <cmath>

#include "tensor/block_scan.h"
#include "tensor/weight.h"
#include "weights/nan_scan.h"

namespace manyspan {
namespace {

using Part = std::span<const std::byte>;

constexpr float kMostFp8 = 448, kMostNvfp4 = 6 * 448;

bool are_floats(Encoding e) { return e == Encoding::f32 || e == Encoding::f16 || e == Encoding::bf16; }

std::optional<BadNumber> among_floats(Encoding e, Part part) {
  const auto first = e == Encoding::f32   ? first_unbounded_f32
                     : e == Encoding::f16 ? first_unbounded_f16
                                          : first_unbounded_bf16;
  const auto at = first(part);
  if (!at) return std::nullopt;
  return BadNumber{*at, "number", " is NaN or infinite"};
}

std::optional<BadNumber> among_blocks(Encoding e, Part part) {
  const auto bad = first_bad_block(e, part);
  if (!bad) return std::nullopt;
  return BadNumber{static_cast<std::uint64_t>(bad->block), "block", ": " + std::string(bad->what)};
}

std::optional<BadNumber> among_codes(const MatrixSource& m, Part part) {
  if (is_blocks(m.encoding)) return among_blocks(m.encoding, part);
  if (are_floats(m.encoding)) return among_floats(m.encoding, part);
  if (code_bits(m.encoding) != 8) return std::nullopt;
  const auto at = first_fp8_nan(part);
  if (!at) return std::nullopt;
  return BadNumber{*at, "code", " is NaN"};
}

// Floats of any worth, as fp8_block128_f32 has them.
std::optional<BadNumber> among_free_scales(Part part) {
  const auto at = first_f32_beyond(part, kMostFp8);
  if (!at) return std::nullopt;
  return BadNumber{*at, "scale",
                   " is no number, or F32 does not hold its product with 448, the largest FP8 code"};
}

std::optional<BadNumber> among_scales(const MatrixSource& m, Part part) {
  if (m.encoding == Encoding::fp8_block128_f32) return among_free_scales(part);
  const bool fp4 = code_bits(m.encoding) == 4, e8m0 = m.scale_type == ScaleType::e8m0;
  const std::uint8_t most = fp4 ? kMostFp4Scale : kMostFp8Scale;
  const auto at = m.scale_type == ScaleType::e4m3 ? first_fp8_nan(part)
                  : e8m0                          ? first_e8m0_above(part, most)
                                                  : first_scale_above(part, most);
  if (!at) return std::nullopt;
  const bool nan = m.scale_type == ScaleType::e4m3 || (e8m0 && part[*at] == std::byte{kE8m0Nan});
  if (nan) return BadNumber{*at, "scale", " is NaN"};
  return BadNumber{*at, "scale",
                   " is above 2^" + std::to_string(most - 127) + ": F32 does not hold its product with " +
                       (fp4 ? "6, the largest FP4 code" : "448, the largest FP8 code")};
}

}  // namespace

int unit_bytes(const MatrixSource& m, Plane plane) {
  if (plane == Plane::scales) return m.scale_type == ScaleType::f32 ? 4 : 1;
  if (is_blocks(m.encoding)) return block_bytes(m.encoding);
  return are_floats(m.encoding) ? code_bits(m.encoding) / 8 : 1;
}

std::optional<BadNumber> first_bad_number(const MatrixSource& m, Plane plane, Part part) {
  return plane == Plane::codes ? among_codes(m, part) : among_scales(m, part);
}

bool bad_factor(Encoding encoding, float factor) {
  return has_factors(encoding) && !std::isfinite(factor * kMostNvfp4);
}

}  // namespace manyspan
