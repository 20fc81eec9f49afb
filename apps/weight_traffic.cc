#include "apps/weight_traffic.h"

namespace manyspan::app {
namespace {

bool is_expert(Role role) {
  return role == Role::expert_w1 || role == Role::expert_w2 || role == Role::expert_w3;
}

}  // namespace

WeightTraffic weight_traffic(const Weights& weights, const Blueprint& blueprint) {
  WeightTraffic traffic;
  for (const Slot& slot : weights.slots()) {
    // Of tables a token reads a row.
    if (slot.capability != Capability::text || slot.role == Role::embed || slot.role == Role::engram_table)
      continue;
    std::int64_t bytes = 0, parameters = 0;
    for (std::int32_t i = 0; i < slot.matrices; ++i) {
      const MatrixSource* source = weights.find(slot.role, slot.layer, i);
      if (source == nullptr) continue;
      bytes += static_cast<std::int64_t>(source->codes.size() + source->scales.size());
      parameters += source->rows * source->cols;
    }
    traffic.all_bytes += bytes;
    // Experts of a layer are alike.
    const std::int64_t share = is_expert(slot.role) ? blueprint.experts_per_token : slot.matrices;
    traffic.token_bytes += bytes * share / slot.matrices;
    traffic.token_parameters += parameters * share / slot.matrices;
  }
  return traffic;
}

}  // namespace manyspan::app
