#include "convert/quantise.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/check.h"
#include "tensor/bf16.h"
#include "tensor/e8m0.h"
#include "tensor/f16.h"
#include "tensor/fp4.h"

namespace manyspan {
namespace {

constexpr std::int64_t kCols = 32;

Error beyond(std::size_t column, float number, std::string_view what) {
  return Error(Fault::unsupported, "column " + std::to_string(column) + " is " + shown_number(number) +
                                       ", beyond what " + std::string(what) + " holds");
}

void put_half(std::uint16_t half, std::byte* out) { std::memcpy(out, &half, sizeof half); }

float largest_of(std::span<const float> block) {
  return *std::max_element(block.begin(), block.end(),
                           [](float a, float b) { return std::fabs(a) < std::fabs(b); });
}

// The code of x/d. The quotient is rounded once to F32, the sum of an integer below 2^22 once more to even.
int nearest(float x, float d, int least, int most) {
  return std::clamp(static_cast<int>(std::nearbyint(x / d)), least, most);
}

// Both kinds of blocks begin with d; gives d as it is stored.
Result<float> put_step(float step, std::size_t column, std::string_view what, std::byte* out) {
  const std::uint16_t half = float_to_f16(step);
  const float d = f16_to_float(half);
  if (!std::isfinite(d)) return beyond(column, step, what);
  put_half(half, out);
  return d;
}

Result<void> q8_0(std::span<const float> block, std::size_t column, std::byte* out) {
  const float d = TRY(put_step(std::fabs(largest_of(block)) / 127, column, "the scale of Q8_0", out));
  for (std::size_t c = 0; c < block.size(); ++c)
    out[2 + c] = static_cast<std::byte>(d == 0 ? 0 : nearest(block[c], d, -127, 127));
  return {};
}

Result<void> q4_0(std::span<const float> block, std::size_t column, std::byte* out) {
  const float d = TRY(put_step(largest_of(block) / -8, column, "the scale of Q4_0", out));
  const auto code = [&](std::size_t c) {
    return static_cast<unsigned>(d == 0 ? 8 : nearest(block[c], d, -8, 7) + 8);
  };
  for (std::size_t c = 0; c < 16; ++c) out[2 + c] = static_cast<std::byte>(code(c) | code(c + 16) << 4);
  return {};
}

void mxfp4(std::span<const float> block, std::byte* out) {
  // A block of zeros has a scale that nothing is multiplied with.
  const std::uint8_t scale = e8m0_ceil(std::fabs(largest_of(block)) / kFp4Max);
  const float step = e8m0_to_float(scale);
  out[0] = std::byte{scale};
  const auto code = [&](std::size_t c) { return float_to_fp4(block[c] / step); };
  for (std::size_t c = 0; c < 16; ++c) out[1 + c] = static_cast<std::byte>(code(c) | code(c + 16) << 4);
}

}  // namespace

std::span<const StoredType> quantisable_types() {
  static constexpr StoredType kTypes[] = {StoredType::q8_0, StoredType::q4_0, StoredType::mxfp4_ggml,
                                          StoredType::f16, StoredType::bf16};
  return kTypes;
}

std::string shown_number(float number) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  return {digits.data(), end};
}

Result<void> quantise_row(StoredType type, std::span<const float> row, std::byte* out) {
  if (type == StoredType::f16 || type == StoredType::bf16) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::uint16_t bits = type == StoredType::f16 ? float_to_f16(row[c]) : to_bf16(row[c]).bits;
      const float stored = type == StoredType::f16 ? f16_to_float(bits) : to_float(Bf16{bits});
      if (!std::isfinite(stored)) return beyond(c, row[c], name(type));
      put_half(bits, out + 2 * c);
    }
    return {};
  }
  CHECK(row.size() % kCols == 0, "whole blocks");
  for (std::size_t c = 0; c < row.size(); c += kCols, out += block_of(type).bytes) {
    const auto block = row.subspan(c, kCols);
    if (type == StoredType::q8_0) {
      TRY(q8_0(block, c, out));
    } else if (type == StoredType::q4_0) {
      TRY(q4_0(block, c, out));
    } else {
      CHECK(type == StoredType::mxfp4_ggml, "a type of quantisable_types()");
      mxfp4(block, out);
    }
  }
  return {};
}

}  // namespace manyspan
