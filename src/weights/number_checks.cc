#include "weights/number_checks.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "weights/matrix_scan.h"
#include "weights/nan_scan.h"

namespace manyspan {
namespace {

constexpr std::uint64_t kAtOnce = 1 << 20;

const StoredTensor& tensor_of(const MatrixSource& m, Plane plane) {
  return plane == Plane::codes ? *m.codes_tensor : *m.scales_tensor;
}

// Calls check(from, part) for one part of the plane after another; `from` counts in the plane's tensor.
template <class Check>
Result<void> each_part(const Container& container, const MatrixSource& m, Plane plane, Check check) {
  const StoredTensor& tensor = tensor_of(m, plane);
  const Bytes bytes = plane == Plane::codes ? m.codes : m.scales;
  const auto first = static_cast<std::uint64_t>(bytes.data() - container.bytes(tensor).data());
  const auto unit = static_cast<std::uint64_t>(unit_bytes(m, plane));
  std::vector<std::byte> room(std::min<std::uint64_t>(bytes.size(), kAtOnce / unit * unit));
  for (std::uint64_t done = 0; done < bytes.size(); done += room.size()) {
    const auto part = std::span(room).first(std::min<std::uint64_t>(room.size(), bytes.size() - done));
    TRY(container.read(tensor, first + done, part));
    TRY(check(first + done, Bytes(part)));
  }
  return {};
}

}  // namespace

Result<void> check_numbers(const Container& container, const MatrixSource& m, Plane plane, std::uint64_t from,
                           Bytes part) {
  const auto bad = first_bad_number(m, plane, part);
  if (!bad) return {};
  const std::uint64_t at = from / static_cast<std::uint64_t>(unit_bytes(m, plane)) + bad->at;
  return Error(Fault::corrupt, container.place(tensor_of(m, plane)) + ": " + std::string(bad->kind) + " " +
                                   std::to_string(at) + bad->what);
}

Result<void> check_numbers(const Container& container, const MatrixSource& m) {
  const auto check = [&](Plane plane) {
    return each_part(container, m, plane, [&](std::uint64_t from, Bytes part) {
      return check_numbers(container, m, plane, from, part);
    });
  };
  if (!m.scales.empty()) TRY(check(Plane::scales));
  if (code_bits(m.encoding) == 4) return {};  // every code is a number
  return check(Plane::codes);
}

Result<void> check_exact(const Container& container, const Slot& slot, const MatrixSource& m) {
  const bool wide = m.encoding == Encoding::f32 || m.encoding == Encoding::f16;
  if (slot.kind != SlotKind::vector_bf16 || !wide) return {};
  const auto first = m.encoding == Encoding::f32 ? first_beyond_bf16 : first_f16_beyond_bf16;
  return each_part(container, m, Plane::codes, [&](std::uint64_t from, Bytes part) -> Result<void> {
    const auto at = first(part);
    if (!at) return {};
    const std::uint64_t number = from / static_cast<std::uint64_t>(unit_bytes(m, Plane::codes)) + *at;
    return Error(Fault::unsupported, container.place(*m.codes_tensor) + ": number " + std::to_string(number) +
                                         " is finer than BF16, which this weight has");
  });
}

Result<bool> even_scales(const Container& container, const MatrixSource& m) {
  bool even = true;
  TRY(each_part(container, m, Plane::scales, [&](std::uint64_t, Bytes part) -> Result<void> {
    even = even && !first_uneven_scale(part);
    return {};
  }));
  return even;
}

}  // namespace manyspan
