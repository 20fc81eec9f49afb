#include "weights/weights.h"

#include "base/check.h"
#include "container/container.h"
#include "weights/number_checks.h"

namespace manyspan {
namespace {

const StoredTensor& tensor_of(const MatrixSource& m, Plane plane) {
  const StoredTensor* tensor = plane == Plane::codes ? m.codes_tensor : m.scales_tensor;
  CHECK(tensor != nullptr, "the matrix has no such plane");
  return *tensor;
}

// Where the matrix's plane begins in its tensor.
std::uint64_t start_of(const Container& container, const MatrixSource& m, Plane plane) {
  const std::byte* from = plane == Plane::codes ? m.codes.data() : m.scales.data();
  return static_cast<std::uint64_t>(from - container.bytes(tensor_of(m, plane)).data());
}

}  // namespace

const MatrixSource* Weights::find(Role role, LayerId layer, std::int32_t expert) const {
  const std::size_t i = index(role, layer);
  if (layer.value < -1 || i >= places_.size()) return nullptr;
  const Place& place = places_[i];
  if (place.first < 0 || expert < 0 || expert >= place.count) return nullptr;
  return &sources_[static_cast<std::size_t>(place.first + expert)];
}

const MatrixSource& Weights::at(Role role, LayerId layer, std::int32_t expert) const {
  const MatrixSource* source = find(role, layer, expert);
  CHECK(source != nullptr, "the model has no such weight");
  return *source;
}

Result<void> Weights::read(const MatrixSource& m, Plane plane, std::uint64_t from,
                           std::span<std::byte> out) const {
  return container_->read(tensor_of(m, plane), start_of(*container_, m, plane) + from, out);
}

Result<void> Weights::check(const MatrixSource& m, Plane plane, std::uint64_t from,
                            std::span<const std::byte> part) const {
  return check_numbers(*container_, m, plane, start_of(*container_, m, plane) + from, part);
}

void Weights::advise(const MatrixSource& m, Plane plane, std::uint64_t from, std::uint64_t bytes,
                     Access access) const {
  container_->advise(tensor_of(m, plane), start_of(*container_, m, plane) + from, bytes, access);
}

Result<void> Weights::read_rows(const MatrixSource& table, std::int64_t first, std::int64_t count,
                                std::span<std::byte> codes, std::span<std::byte> scales) const {
  CHECK(table.codes_tensor != nullptr && (table.scales_tensor != nullptr || scales.empty()), "not a table");
  TRY(container_->read_rows(*table.codes_tensor, first, count, codes));
  if (table.scales_tensor == nullptr) return {};
  return container_->read_rows(*table.scales_tensor, first, count, scales);
}

}  // namespace manyspan
