#include "weights/number_checks.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "weights/nan_scan.h"

namespace manyspan {
namespace {

constexpr std::uint64_t kBlockBytes = 1 << 20;

using First = std::optional<std::size_t> (*)(std::span<const std::byte>);

Error wrong(const Container& container, const StoredTensor& tensor, const std::string& what,
            Fault fault = Fault::corrupt) {
  return Error(fault, container.place(tensor) + ": " + what);
}

// Calls check(from, part) for one block of the plane after another; `from` counts in the plane's tensor.
template <class Check>
Result<void> each_block(const Container& container, const StoredTensor& tensor, Bytes plane, Check check) {
  const auto first = static_cast<std::uint64_t>(plane.data() - container.bytes(tensor).data());
  std::vector<std::byte> block(std::min<std::uint64_t>(plane.size(), kBlockBytes));
  for (std::uint64_t done = 0; done < plane.size(); done += block.size()) {
    const auto part = std::span(block).first(std::min<std::uint64_t>(block.size(), plane.size() - done));
    TRY(container.read(tensor, first + done, part));
    TRY(check(first + done, Bytes(part)));
  }
  return {};
}

Result<void> check_scales(const Container& container, const MatrixSource& m, std::uint64_t from, Bytes part) {
  const bool fp4 = code_bits(m.encoding) == 4, e8m0 = m.scale_type == ScaleType::e8m0;
  const std::uint8_t most = fp4 ? kMostFp4Scale : kMostFp8Scale;
  const auto at = e8m0 ? first_e8m0_above(part, most) : first_scale_above(part, most);
  if (!at) return {};
  const std::string scale = "scale " + std::to_string(from / (e8m0 ? 1 : sizeof(float)) + *at) + " is ";
  if (e8m0 && part[*at] == std::byte{kE8m0Nan}) return wrong(container, *m.scales_tensor, scale + "NaN");
  return wrong(container, *m.scales_tensor,
               scale + "above 2^" + std::to_string(most - 127) + ": F32 does not hold its product with " +
                   (fp4 ? "6, the largest FP4 code" : "448, the largest FP8 code"));
}

Result<void> check_codes(const Container& container, const MatrixSource& m, std::uint64_t from, Bytes part) {
  const auto number = [&](std::size_t at, int bits) {
    return std::to_string(from / static_cast<std::uint64_t>(bits / 8) + at);
  };
  const int bits = code_bits(m.encoding);
  if (m.encoding == Encoding::f32 || m.encoding == Encoding::f16 || m.encoding == Encoding::bf16) {
    const First first = m.encoding == Encoding::f32   ? first_unbounded_f32
                        : m.encoding == Encoding::f16 ? first_unbounded_f16
                                                      : first_unbounded_bf16;
    if (const auto at = first(part))
      return wrong(container, *m.codes_tensor, "number " + number(*at, bits) + " is NaN or infinite");
  } else if (bits == 8) {
    if (const auto at = first_fp8_nan(part))
      return wrong(container, *m.codes_tensor, "code " + number(*at, bits) + " is NaN");
  }
  return {};
}

bool has_scale_plane(const MatrixSource& m) { return m.scale_type != ScaleType::none; }

}  // namespace

Result<void> check_numbers(const Container& container, const MatrixSource& matrix, Plane plane,
                           std::uint64_t from, Bytes part) {
  if (plane == Plane::codes) return check_codes(container, matrix, from, part);
  return check_scales(container, matrix, from, part);
}

Result<void> check_numbers(const Container& container, const MatrixSource& m) {
  if (has_scale_plane(m)) {
    TRY(each_block(container, *m.scales_tensor, m.scales, [&](std::uint64_t from, Bytes part) {
      return check_scales(container, m, from, part);
    }));
  }
  if (code_bits(m.encoding) < 8) return {};  // every code is a number
  return each_block(container, *m.codes_tensor, m.codes, [&](std::uint64_t from, Bytes part) {
    return check_codes(container, m, from, part);
  });
}

Result<void> check_exact(const Container& container, const Slot& slot, const MatrixSource& m) {
  if (m.scale_type == ScaleType::f32 && m.encoding == Encoding::fp8_block128) {
    TRY(each_block(container, *m.scales_tensor, m.scales, [&](std::uint64_t from, Bytes part) -> Result<void> {
      const auto at = first_uneven_scale(part);
      if (!at) return {};
      return wrong(container, *m.scales_tensor,
                   "scale " + std::to_string(from / sizeof(float) + *at) +
                       " is not a power of two: it would round every weight",
                   Fault::unsupported);
    }));
  }
  if (slot.kind != SlotKind::vector_bf16 || m.encoding != Encoding::f32) return {};
  return each_block(container, *m.codes_tensor, m.codes, [&](std::uint64_t from, Bytes part) -> Result<void> {
    const auto at = first_beyond_bf16(part);
    if (!at) return {};
    return wrong(container, *m.codes_tensor,
                 "number " + std::to_string(from / sizeof(float) + *at) +
                     " is finer than BF16, which this weight has",
                 Fault::unsupported);
  });
}

}  // namespace manyspan
