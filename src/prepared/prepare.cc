#include <unistd.h>

#include "prepared/placing.h"
#include "prepared/rope_frequencies.h"
#include "spec/layers.h"

namespace manyspan {
namespace {

constexpr LayerId kWhole{-1};

void attention(Placing& p, PreparedLayer& w, const LayerSchedule& plan, const Blueprint& b) {
  const LayerId l = plan.layer;
  w.attention_norm = p.bf16s(Role::attention_norm, l);
  w.wq_a = p.matrix(Role::wq_a, l);
  w.q_norm = p.bf16s(Role::q_norm, l);
  w.wq_b = p.matrix(Role::wq_b, l);
  w.wkv = p.matrix(Role::wkv, l);
  w.kv_norm = p.bf16s(Role::kv_norm, l);
  for (std::int32_t g = 0; g < b.o_groups; ++g) {
    w.wo_a.push_back(p.rows(Role::wo_a, l, std::int64_t{g} * b.o_rank, b.o_rank));
  }
  w.wo_b = p.matrix(Role::wo_b, l);
  w.sink = p.floats(Role::sink, l);
  if (plan.is_kv_source) {
    w.compress_kv = p.matrix(Role::compress_kv, l);
    if (plan.ratio > 1) w.compress_gate = p.matrix(Role::compress_gate, l);
    w.compress_norm = p.bf16s(Role::compress_norm, l);
    w.index_key = p.matrix(Role::index_key, l);
    w.index_key_norm = p.bf16s(Role::index_key_norm, l);
  }
  if (plan.is_index_source) {
    w.index_q = p.matrix(Role::index_q, l);
    w.index_head_weights = p.matrix(Role::index_head_weights, l);
  }
}

// w1 and w3 stacked, or apart where they are stored in different encodings.
void gates_and_ups(Placing& p, const Weights& weights, LayerId l, Role w1, Role w3, std::int32_t count,
                   Weight& gate_up, Weight& up) {
  if (weights.at(w1, l).encoding == weights.at(w3, l).encoding) {
    gate_up = p.pairs(w1, w3, l, count);
  } else {
    gate_up = p.each(w1, l, count);
    up = p.each(w3, l, count);
  }
}

void experts(Placing& p, const Weights& weights, PreparedLayer& w, LayerId l, const Blueprint& b) {
  w.expert_norm = p.bf16s(Role::expert_norm, l);
  w.gate = p.matrix(Role::gate, l);
  w.gate_bias = p.floats(Role::gate_bias, l);
  w.gate_bias_images = p.floats(Role::gate_bias_images, l);
  gates_and_ups(p, weights, l, Role::expert_w1, Role::expert_w3, b.experts, w.gate_up, w.up);
  w.down = p.each(Role::expert_w2, l, b.experts);
  gates_and_ups(p, weights, l, Role::shared_w1, Role::shared_w3, 1, w.shared_gate_up, w.shared_up);
  w.shared_down = p.each(Role::shared_w2, l, 1);
}

PreparedLayer layer(Placing& p, const Weights& weights, const LayerSchedule& plan, const Blueprint& b) {
  const LayerId l = plan.layer;
  PreparedLayer w{};
  w.attention_mix = {p.matrix(Role::attention_mix_fn, l), p.floats(Role::attention_mix_base, l),
                     p.floats(Role::attention_mix_scale, l)};
  w.expert_mix = {p.matrix(Role::expert_mix_fn, l), p.floats(Role::expert_mix_base, l),
                  p.floats(Role::expert_mix_scale, l)};
  attention(p, w, plan, b);
  experts(p, weights, w, l, b);
  if (plan.engram >= 0) {
    w.engram_kv = p.matrix(Role::engram_kv, l);
    w.engram_encoding = weights.at(Role::engram_table, l).encoding;
    w.engram_q_gain = p.bf16s(Role::engram_q_gain, l);
    w.engram_k_gain = p.bf16s(Role::engram_k_gain, l);
  }
  return w;
}

// Whether a slot's weights are wanted where `layers` are. The Engram tables are loaded nowhere.
bool wanted(const Slot& slot, const StageLayers& layers, std::int32_t count) {
  if (slot.kind == SlotKind::row_scaled_table) return false;
  if (slot.role == Role::embed) return layers.has({0});
  if (slot.role == Role::head || slot.role == Role::norm) return layers.has({count - 1});
  return layers.has(slot.layer);
}

// Whether files of so many bytes would crowd everything else out of the machine's memory if they stayed in its cache.
bool is_much(std::int64_t bytes) {
  const std::int64_t pages = ::sysconf(_SC_PHYS_PAGES), page_bytes = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page_bytes > 0 && bytes > pages / 4 * page_bytes;
}

}  // namespace

std::int64_t bytes_to_read(const Weights& weights, const Blueprint& blueprint, const StageLayers& layers) {
  std::int64_t bytes = 0;
  for (const Slot& slot : weights.slots()) {
    if (!wanted(slot, layers, blueprint.layers)) continue;
    for (std::int32_t i = 0; i < slot.matrices; ++i) {
      const MatrixSource* source = weights.find(slot.role, slot.layer, i);
      if (source != nullptr) bytes += static_cast<std::int64_t>(source->codes.size() + source->scales.size());
    }
  }
  return bytes;
}

Result<std::unique_ptr<Prepared>> prepare(const Weights& weights, const Blueprint& blueprint,
                                          const StageLayers& layers, Device& device, HostDevice& host,
                                          const kernels::Table& table, const Cancel* cancel,
                                          const std::function<void(const LoadProgress&)>& progress) {
  auto prepared = std::make_unique<Prepared>();
  const std::int64_t total = bytes_to_read(weights, blueprint, layers);
  const std::int64_t whole = bytes_to_read(weights, blueprint, all_layers(blueprint.layers));
  std::function<void()> tell;
  Placing p(weights, device, host, table, *prepared,
            {.cancel = cancel, .progress = [&] { tell(); }, .forget_files = is_much(whole)});
  tell = [&] {
    if (progress) progress({std::min(p.read_bytes(), total), total});
  };
  const auto reached = [&]() -> Result<void> {
    TRY(p.done());
    if (cancel != nullptr && cancel->requested()) return Error(Fault::invalid, "loading was cancelled");
    tell();
    return {};
  };
  if (layers.has({0})) prepared->embed = p.plain(Role::embed, kWhole);
  TRY(reached());
  for (const LayerSchedule& plan : schedule_of(blueprint).layers) {
    const bool here = layers.has(plan.layer);
    prepared->layers.push_back(here ? layer(p, weights, plan, blueprint) : PreparedLayer{});
    TRY(reached());
  }
  if (layers.has({blueprint.layers - 1})) {
    prepared->head = p.matrix(Role::head, kWhole);
    prepared->norm = p.bf16s(Role::norm, kWhole);
  }
  prepared->window_rope = {p.floats(window_frequencies(blueprint)), blueprint.rope_dim};
  prepared->compressed_rope = {p.floats(compressed_frequencies(blueprint)), blueprint.rope_dim};
  TRY(reached());
  return prepared;
}

}  // namespace manyspan
