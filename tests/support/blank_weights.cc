#include "tests/support/blank_weights.h"

#include <algorithm>

#include "base/check.h"
#include "kernels/layout.h"
#include "prepared/footprint.h"
#include "spec/layers.h"

namespace manyspan::test {
namespace {

class Blanks {
 public:
  Blanks(const Blueprint& b, const kernels::Table& table) : b_(b), table_(table), slots_(slots_of(b)) {}

  Weight matrix(Role role, LayerId layer) const { return placed(plain(role, layer)); }
  Weight look_up(Role role) const {
    return kernels::arranged(plain(role, LayerId{-1}), Tiling::plain, RowOrder::natural);
  }
  Weight pair(Role first, LayerId layer) const {
    return kernels::arranged_pair(plain(first, layer), table_.tiling, table_.expert_order);
  }
  PreparedLayer layer(const LayerSchedule& plan) const {
    const LayerId l = plan.layer;
    PreparedLayer w{};
    w.attention_mix.fn = matrix(Role::attention_mix_fn, l);
    w.expert_mix.fn = matrix(Role::expert_mix_fn, l);
    w.wq_a = matrix(Role::wq_a, l);
    w.wq_b = matrix(Role::wq_b, l);
    w.wkv = matrix(Role::wkv, l);
    w.wo_b = matrix(Role::wo_b, l);
    Weight group = plain(Role::wo_a, l);
    group.rows = b_.o_rank;
    w.wo_a.assign(b_.o_groups, placed(group));
    if (plan.is_kv_source) {
      w.compress_kv = matrix(Role::compress_kv, l);
      if (plan.ratio > 1) w.compress_gate = matrix(Role::compress_gate, l);
      w.index_key = matrix(Role::index_key, l);
    }
    if (plan.is_index_source) {
      w.index_q = matrix(Role::index_q, l);
      w.index_head_weights = matrix(Role::index_head_weights, l);
    }
    w.gate = matrix(Role::gate, l);
    w.gate_up = pair(Role::expert_w1, l);
    w.down = matrix(Role::expert_w2, l);
    w.shared_gate_up = pair(Role::shared_w1, l);
    w.shared_down = matrix(Role::shared_w2, l);
    if (plan.engram >= 0) w.engram_kv = matrix(Role::engram_kv, l), w.engram_encoding = Encoding::mxfp8;
    return w;
  }

 private:
  Weight plain(Role role, LayerId layer) const {
    const auto slot = std::find_if(slots_.begin(), slots_.end(), [&](const Slot& s) {
      return s.role == role && s.layer.value == layer.value;
    });
    CHECK(slot != slots_.end(), "a slot of the model");
    Weight w{};
    w.rows = static_cast<std::int32_t>(slot->rows);
    w.cols = static_cast<std::int32_t>(slot->cols);
    w.encoding = implied_encoding(*slot, b_.quantization);
    return w;
  }
  Weight placed(const Weight& from) const {
    return kernels::arranged(from, table_.tiling, RowOrder::natural);
  }

  const Blueprint& b_;
  const kernels::Table& table_;
  std::vector<Slot> slots_;
};

}  // namespace

std::unique_ptr<Prepared> blank_weights(const Blueprint& blueprint, const kernels::Table& table) {
  const Blanks blanks(blueprint, table);
  auto prepared = std::make_unique<Prepared>();
  prepared->embed = blanks.look_up(Role::embed);
  prepared->head = blanks.matrix(Role::head, LayerId{-1});
  for (const LayerSchedule& plan : schedule_of(blueprint).layers) {
    prepared->layers.push_back(blanks.layer(plan));
  }
  prepared->window_rope.dims = prepared->compressed_rope.dims = blueprint.rope_dim;
  return prepared;
}

}  // namespace manyspan::test
