#include "spec/slots.h"

#include <iterator>
#include <utility>

#include "spec/layers.h"
#include "spec/precision.h"

namespace manyspan {
namespace {

struct Lister {
  const Blueprint& b;
  std::vector<Slot> slots{};
  LayerId layer{-1};

  Slot& add(Role role, SlotKind kind, std::int64_t rows, std::int64_t cols) {
    slots.push_back({role, layer, 1, rows, cols, kind, allowed_encodings(role), Capability::text});
    return slots.back();
  }
  Slot& quantised(Role role, std::int64_t rows, std::int64_t cols) {
    return add(role, SlotKind::quantised_linear, rows, cols);
  }
  void plain(Role role, std::int64_t rows, std::int64_t cols) {
    add(role, SlotKind::plain_linear, rows, cols);
  }
  Slot& numbers(Role role, std::int64_t count) { return add(role, SlotKind::vector_f32, 1, count); }
  void gains(Role role, std::int64_t count, std::int64_t rows = 1) {
    add(role, SlotKind::vector_bf16, rows, count);
  }
  void experts(Role role, std::int64_t rows, std::int64_t cols) {
    quantised(role, rows, cols).matrices = b.experts;
  }

  void mixes(Role fn, Role base, Role scale) {
    const std::int64_t outputs = (2 + std::int64_t{b.streams}) * b.streams;
    plain(fn, outputs, std::int64_t{b.streams} * b.hidden);
    numbers(base, outputs);
    numbers(scale, 3);
  }

  void attention(const LayerSchedule& s) {
    const std::int64_t heads_out = std::int64_t{b.heads} * b.head_dim;
    const std::int64_t groups_out = std::int64_t{b.o_groups} * b.o_rank;
    numbers(Role::sink, b.heads);
    quantised(Role::wq_a, b.q_rank, b.hidden);
    gains(Role::q_norm, b.q_rank);
    quantised(Role::wq_b, heads_out, b.q_rank);
    quantised(Role::wkv, b.head_dim, b.hidden);
    gains(Role::kv_norm, b.head_dim);
    plain(Role::wo_a, groups_out, heads_out / b.o_groups);
    quantised(Role::wo_b, b.hidden, groups_out);
    if (s.is_kv_source) {
      plain(Role::compress_kv, b.head_dim, b.hidden);
      if (s.ratio > 1) plain(Role::compress_gate, b.head_dim, b.hidden);
      gains(Role::compress_norm, b.head_dim);
      plain(Role::index_key, b.index_dim, b.head_dim);
      gains(Role::index_key_norm, b.index_dim);
    }
    if (s.is_index_source) {
      quantised(Role::index_q, std::int64_t{b.index_heads} * b.index_dim, b.q_rank);
      plain(Role::index_head_weights, b.index_heads, b.hidden);
    }
  }

  void feed_forward() {
    plain(Role::gate, b.experts, b.hidden);
    numbers(Role::gate_bias, b.experts);
    numbers(Role::gate_bias_images, b.experts).capability = Capability::images;
    quantised(Role::shared_w1, b.expert_inner, b.hidden);
    quantised(Role::shared_w2, b.hidden, b.expert_inner);
    quantised(Role::shared_w3, b.expert_inner, b.hidden);
    experts(Role::expert_w1, b.expert_inner, b.hidden);
    experts(Role::expert_w2, b.hidden, b.expert_inner);
    experts(Role::expert_w3, b.expert_inner, b.hidden);
  }

  void engram(std::int64_t table_rows) {
    const EngramNumbers& e = b.engram;
    add(Role::engram_table, SlotKind::row_scaled_table, table_rows, e.head_dim);
    quantised(Role::engram_kv, (std::int64_t{b.streams} + 1) * b.hidden,
              (std::int64_t{e.max_ngram} - 1) * e.heads * e.head_dim);
    gains(Role::engram_q_gain, b.hidden, b.streams);
    gains(Role::engram_k_gain, b.hidden, b.streams);
  }
};

}  // namespace

std::vector<Slot> slots_of(const Blueprint& b) {
  Lister list{b};
  list.plain(Role::embed, b.vocabulary, b.hidden);
  list.plain(Role::head, b.vocabulary, b.hidden);
  list.gains(Role::norm, b.hidden);
  for (const LayerSchedule& s : schedule_of(b).layers) {
    list.layer = s.layer;
    list.gains(Role::attention_norm, b.hidden);
    list.gains(Role::expert_norm, b.hidden);
    list.mixes(Role::attention_mix_fn, Role::attention_mix_base, Role::attention_mix_scale);
    list.mixes(Role::expert_mix_fn, Role::expert_mix_base, Role::expert_mix_scale);
    list.attention(s);
    list.feed_forward();
    if (s.engram >= 0) list.engram(b.engram.table_rows[static_cast<std::size_t>(s.engram)]);
  }
  return std::move(list.slots);
}

std::string_view name(Role role) {
  static constexpr std::string_view kNames[] = {"embedding",
                                                "head",
                                                "final norm",
                                                "attention norm",
                                                "expert norm",
                                                "attention mix",
                                                "attention mix base",
                                                "attention mix scale",
                                                "expert mix",
                                                "expert mix base",
                                                "expert mix scale",
                                                "attention sink",
                                                "query down",
                                                "query norm",
                                                "query up",
                                                "window key",
                                                "window key norm",
                                                "output down",
                                                "output up",
                                                "compressor",
                                                "compressor gate",
                                                "compressor norm",
                                                "index key",
                                                "index key norm",
                                                "index query",
                                                "index head weights",
                                                "router",
                                                "router bias",
                                                "router bias for images",
                                                "shared expert gate",
                                                "shared expert down",
                                                "shared expert up",
                                                "expert gate",
                                                "expert down",
                                                "expert up",
                                                "Engram table",
                                                "Engram key and value",
                                                "Engram query gain",
                                                "Engram key gain"};
  static_assert(std::size(kNames) == kRoles);
  return kNames[static_cast<std::size_t>(role)];
}

std::string_view name(Capability capability) {
  static constexpr std::string_view kNames[] = {"text", "images", "vision", "draft"};
  return kNames[static_cast<std::size_t>(capability)];
}

}  // namespace manyspan
