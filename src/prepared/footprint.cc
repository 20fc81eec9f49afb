#include "prepared/footprint.h"

#include "kernels/layout.h"
#include "prepared/rope_frequencies.h"

namespace manyspan {
namespace {

// As placing.cc rounds every plane.
std::int64_t rounded(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

// Of an encoding that kernels read.
std::int64_t matrix_bytes(std::int64_t rows, std::int64_t cols, Encoding encoding, Tiling tiling) {
  Weight w{};
  w.rows = static_cast<std::int32_t>(rows);
  w.cols = static_cast<std::int32_t>(cols);
  w.encoding = encoding;
  w.tiling = tiling;
  return rounded(code_bytes(w)) + rounded(scale_bytes(w));
}

// Half of a pair is counted with the other half.
bool counted_with_another(Role role) { return role == Role::expert_w3 || role == Role::shared_w3; }
Role other_half(Role role) { return role == Role::expert_w1 ? Role::expert_w3 : Role::shared_w3; }

// How the file stores a slot, and the slot that it shares a pair with.
struct Stored {
  Encoding encoding, other;
};

// w1 and w3, stacked where they are stored alike.
std::int64_t pair_bytes(const Slot& slot, const Stored& stored, Tiling tiling) {
  const Encoding one = kernels::kernel_encoding(stored.encoding, tiling);
  if (stored.encoding != stored.other) {
    const Encoding other = kernels::kernel_encoding(stored.other, tiling);
    return matrix_bytes(slot.rows, slot.cols, one, tiling) +
           matrix_bytes(slot.rows, slot.cols, other, tiling);
  }
  const bool cut = one == Encoding::fp8_block128_f32 && tiling == Tiling::plain && slot.rows % 128 != 0;
  return matrix_bytes(2 * slot.rows, slot.cols, cut ? Encoding::f32 : one, tiling);
}

WeightBytes bytes_of(const Slot& slot, const Stored& stored, Tiling tiling, const Blueprint& b) {
  const auto all = [](std::int64_t bytes) { return WeightBytes{bytes, bytes}; };
  const auto matrix = [&](std::int64_t rows, Tiling t) {
    return matrix_bytes(rows, slot.cols, kernels::kernel_encoding(stored.encoding, t), t);
  };
  if (slot.kind == SlotKind::vector_f32) return all(4 * slot.rows * slot.cols);
  if (slot.kind == SlotKind::vector_bf16) return all(2 * slot.rows * slot.cols);
  switch (slot.role) {
    case Role::embed: {
      const std::int64_t held = matrix(slot.rows, Tiling::plain);
      return {held, held / slot.rows};
    }
    case Role::wo_a:
      return all(b.o_groups * matrix(b.o_rank, tiling));
    case Role::shared_w1:
      return all(pair_bytes(slot, stored, tiling));
    case Role::expert_w1:
    case Role::expert_w2: {
      const std::int64_t one =
          slot.role == Role::expert_w1 ? pair_bytes(slot, stored, tiling) : matrix(slot.rows, tiling);
      return {slot.matrices * one, b.experts_per_token * one};
    }
    default:
      return all(matrix(slot.rows, tiling));
  }
}

}  // namespace

WeightBytes& WeightBytes::operator+=(const WeightBytes& more) {
  held += more.held;
  read += more.read;
  return *this;
}

WeightBytes Footprint::of(const StageLayers& stage) const {
  WeightBytes sum = each;
  const auto count = static_cast<std::int32_t>(layers.size());
  if (stage.has({0})) sum += first;
  if (stage.has({count - 1})) sum += last;
  for (std::int32_t l = 0; l < count; ++l) {
    if (stage.has({l})) sum += layers[static_cast<std::size_t>(l)];
  }
  return sum;
}

Encoding implied_encoding(const Slot& slot, const Quantization& q) {
  if (slot.kind == SlotKind::row_scaled_table) return Encoding::mxfp8;
  if (slot.kind == SlotKind::vector_f32) return Encoding::f32;
  if (slot.kind == SlotKind::vector_bf16) return Encoding::bf16;
  const bool expert =
      slot.role == Role::expert_w1 || slot.role == Role::expert_w2 || slot.role == Role::expert_w3;
  if (expert && q.expert_dtype == Quantization::ExpertDtype::fp4) return Encoding::mxfp4;
  if (expert && q.expert_dtype == Quantization::ExpertDtype::bf16) return Encoding::bf16;
  if (!slot.allowed.has(Encoding::bf16)) return Encoding::f32;
  // Slots that no FP8 may fill, and the head, which the family keeps wide.
  if (!slot.allowed.has(Encoding::fp8_block32) || slot.role == Role::head) return Encoding::bf16;
  if (q.method == "none") return Encoding::bf16;
  if (q.block_rows == 1) return Encoding::mxfp8;
  return q.block_rows == 128 ? Encoding::fp8_block128 : Encoding::fp8_block32;
}

Footprint footprint(const Blueprint& b, Tiling tiling, const Weights* weights) {
  Footprint f;
  f.layers.resize(static_cast<std::size_t>(b.layers));
  f.each.held =
      4 * static_cast<std::int64_t>(window_frequencies(b).size() + compressed_frequencies(b).size());
  for (const Slot& slot : slots_of(b)) {
    const MatrixSource* source = weights == nullptr ? nullptr : weights->find(slot.role, slot.layer);
    // Only what a checkpoint may lack is null.
    if (counted_with_another(slot.role) || (weights != nullptr && source == nullptr)) continue;
    Stored stored{implied_encoding(slot, b.quantization), {}};
    stored.other = stored.encoding;
    if (source != nullptr) {
      stored.encoding = source->encoding;
      const MatrixSource* other = weights->find(other_half(slot.role), slot.layer);
      stored.other = other == nullptr ? stored.encoding : other->encoding;
    }
    if (slot.kind == SlotKind::row_scaled_table) {
      const std::int64_t row = lone_row_bytes(stored.encoding, static_cast<std::int32_t>(slot.cols));
      f.engram_row_bytes.push_back(row);  // slots are in the order of layers
      f.engram_tables += slot.rows * (row - (has_factors(stored.encoding) ? sizeof(float) : 0));
      continue;
    }
    WeightBytes& to = slot.role == Role::embed ? f.first
                      : slot.layer.value < 0   ? f.last
                                               : f.layers[static_cast<std::size_t>(slot.layer.value)];
    to += bytes_of(slot, stored, tiling, b);
  }
  return f;
}

}  // namespace manyspan
