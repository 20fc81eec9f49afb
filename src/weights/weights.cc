#include "weights/weights.h"

#include "base/check.h"
#include "container/container.h"

namespace manyspan {

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

Result<void> Weights::read_rows(const MatrixSource& table, std::int64_t first, std::int64_t count,
                                std::span<std::byte> codes, std::span<std::byte> scales) const {
  CHECK(table.codes_tensor != nullptr && (table.scales_tensor != nullptr || scales.empty()), "not a table");
  TRY(container_->read_rows(*table.codes_tensor, first, count, codes));
  if (table.scales_tensor == nullptr) return {};
  return container_->read_rows(*table.scales_tensor, first, count, scales);
}

}  // namespace manyspan
