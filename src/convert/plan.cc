#include "convert/plan.h"

#include <map>
#include <utility>

#include "container/gguf_types.h"
#include "convert/quantise.h"
#include "spec/precision.h"
#include "weights/names_gguf.h"
#include "weights/names_hf.h"
#include "weights/stored_encoding.h"

namespace manyspan {
namespace {

constexpr std::string_view kWeight = "weight";

std::optional<Encoding> encoding_of(StoredType type) {
  if (type == StoredType::f16) return Encoding::f16;
  if (type == StoredType::bf16) return Encoding::bf16;
  return block_encoding(type);
}

struct Planner {
  const Weights& weights;
  Target target;
  std::optional<StoredType> quantize;
  ConvertPlan plan{};
  std::map<std::pair<std::string, std::string>, ConvertedKind> kinds{};
  std::map<std::string, std::int64_t> finer{};  // what stayed as it is, and of how many matrices

  Result<void> add(const Slot& slot) {
    if (weights.find(slot.role, slot.layer) == nullptr) return {};  // a capability that the input lacks
    // Matrices of one slot have one encoding, but for copies that mix them.
    const MatrixSource& first = weights.at(slot.role, slot.layer);
    auto planes = planes_of(slot, first);
    if (!planes.ok()) return std::move(planes).error().within(first.place);
    for (std::int32_t e = 1; e < slot.matrices; ++e) {
      const MatrixSource& m = weights.at(slot.role, slot.layer, e);
      if (m.encoding == first.encoding) continue;
      if (target == Target::gguf) return mixed(first, m);
    }
    if (target == Target::gguf) {
      std::vector<const MatrixSource*> all;
      for (std::int32_t e = 0; e < slot.matrices; ++e) all.push_back(&weights.at(slot.role, slot.layer, e));
      return add_planes(slot, gguf_name(slot.role, slot.layer), planes.value(), std::move(all));
    }
    const bool experts =
        slot.matrices > 1 || hf_name(slot.role, slot.layer).find(".experts.") != std::string::npos;
    for (std::int32_t e = 0; e < slot.matrices; ++e) {
      const MatrixSource& m = weights.at(slot.role, slot.layer, e);
      const auto own = TRY(planes_of(slot, m));
      TRY(add_planes(slot, hf_name(slot.role, slot.layer, experts ? e : -1), own, {&m}));
    }
    return {};
  }

  static Error mixed(const MatrixSource& a, const MatrixSource& b) {
    return Error(Fault::unsupported, b.place + ": " + std::string(name(b.encoding)) + ", but " + a.place +
                                         " is " + std::string(name(a.encoding)) +
                                         ": in a GGUF the experts of a layer are one tensor of one type");
  }

  Result<std::vector<MadePlane>> planes_of(const Slot& slot, const MatrixSource& m) {
    auto exact = lossless_planes(slot, m, target);
    if (!quantize || slot.kind == SlotKind::vector_f32 || slot.kind == SlotKind::vector_bf16) return exact;
    const std::string why = why_not(slot, m, exact);
    if (!why.empty()) {
      if (why != "-")
        finer[std::string(name(slot.role)) + ": " + why] += target == Target::gguf ? slot.matrices : 1;
      return exact;
    }
    return std::vector<MadePlane>{{Making::quantised, *quantize, "", m.cols}};
  }

  // Why the matrix is not rounded to what was asked for; empty: it is, "-": it needs no rounding.
  std::string why_not(const Slot& slot, const MatrixSource& m,
                      const Result<std::vector<MadePlane>>& exact) const {
    const Encoding asked = *encoding_of(*quantize);
    if (exact.ok()) {
      const double now = bits_of(exact.value(), m), then = bits_a_number(asked);
      if (exact.value().size() == 1 && exact.value()[0].type == *quantize) return "-";
      if (now < then) return "is smaller as it is";
    }
    // Roles that have a floor keep what they have: F16's range is no floor's.
    if (!slot.allowed.has(asked) || !slot.allowed.has(Encoding::q8_0))
      return "a model may not store it so coarsely";
    if (const std::string_view said = concern(slot.role, asked); !said.empty()) return std::string(said);
    if (m.cols % block_of(*quantize).elements != 0) return "its rows are no whole blocks";
    return {};
  }

  static double bits_of(const std::vector<MadePlane>& planes, const MatrixSource& m) {
    double bits = 0;
    for (const MadePlane& p : planes) {
      if (p.making != Making::factors)
        bits += 8.0 * static_cast<double>(row_bytes(p)) / static_cast<double>(m.cols);
    }
    return bits;
  }

  Result<void> add_planes(const Slot& slot, const std::string& codes, const std::vector<MadePlane>& planes,
                          std::vector<const MatrixSource*> all) {
    std::uint64_t after = 0;
    for (const MadePlane& plane : planes) {
      std::string stem = codes;
      if (!plane.suffix.empty()) stem.resize(stem.size() - kWeight.size());
      PlannedTensor t{};
      t.outline.name = stem + plane.suffix;
      t.outline.type = plane.type;
      t.outline.shape = shape_of(slot, plane, all);
      t.plane = plane;
      t.matrices = all;
      t.rows = plane.making == Making::factors ? 1 : rows_of(plane, *all[0]);
      t.outline.bytes = static_cast<std::uint64_t>(t.rows * row_bytes(plane)) * all.size();
      after += t.outline.bytes;
      plan.tensors.push_back(std::move(t));
    }
    count(all, planes, after);
    return {};
  }

  static std::int64_t rows_of(const MadePlane& plane, const MatrixSource& m) {
    const bool of_blocks = plane.making == Making::copy_scales && m.encoding == Encoding::fp8_block32;
    return of_blocks ? (m.rows + 31) / 32 : m.rows;
  }

  std::vector<std::int64_t> shape_of(const Slot& slot, const MadePlane& plane,
                                     const std::vector<const MatrixSource*>& all) const {
    const bool merged = target == Target::gguf && slot.matrices > 1;
    if (plane.making == Making::factors) return {std::ssize(all)};
    std::vector<std::int64_t> shape;
    if (merged) shape.push_back(slot.matrices);
    const bool vector = slot.kind == SlotKind::vector_f32 || slot.kind == SlotKind::vector_bf16;
    if (!vector || slot.rows > 1) shape.push_back(rows_of(plane, *all[0]));
    shape.push_back(plane.row);
    return shape;
  }

  void count(const std::vector<const MatrixSource*>& all, const std::vector<MadePlane>& planes,
             std::uint64_t after) {
    std::string to(name(planes[0].type));
    if (planes.size() > 1) to += " and " + std::string(name(planes[1].type));
    ConvertedKind& kind = kinds[{std::string(name(all[0]->encoding)), to}];
    kind.from = name(all[0]->encoding);
    kind.to = to;
    kind.matrices += std::ssize(all);
    for (const MatrixSource* m : all) kind.bytes_before += m->codes.size() + m->scales.size();
    kind.bytes_after += after;
  }

  ConvertPlan take() {
    for (auto& [key, kind] : kinds) plan.kinds.push_back(std::move(kind));
    for (const auto& [what, matrices] : finer) {
      plan.notes.push_back("not " + std::string(name(*quantize)) + ": " + std::to_string(matrices) +
                           " of the " + what);
    }
    return std::move(plan);
  }
};

}  // namespace

Result<ConvertPlan> plan_tensors(const Weights& weights, Target target, std::optional<StoredType> quantize) {
  if (target == Target::safetensors && quantize && in_blocks(*quantize) &&
      *quantize != StoredType::mxfp4_ggml) {
    return Error(Fault::invalid, "safetensors have no " + std::string(name(*quantize)) + "; GGUF has");
  }
  if (target == Target::safetensors && quantize == StoredType::mxfp4_ggml)
    return Error(Fault::invalid, "numbers are rounded to MXFP4 on the way to a GGUF only");
  Planner planner{weights, target, quantize};
  for (const Slot& slot : weights.slots()) TRY(planner.add(slot));
  return planner.take();
}

}  // namespace manyspan
