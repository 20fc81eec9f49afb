#include "verify/rule.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tensor/bf16.h"
#include "tensor/f16.h"
#include "weights/stored_encoding.h"

namespace manyspan {
namespace {

MatrixSource like(const Rule& rule) {
  MatrixSource m;
  m.encoding = rule.encoding;
  m.scale_type = rule.scale_type;
  return m;
}

// What E8M0 numbers scale is beside them, and says how large they may be.
bool scales_fp8(const Container& container, const std::string& name) {
  const std::size_t dot = name.rfind('.');
  if (dot == name.npos) return false;
  const StoredTensor* codes = container.find(name.substr(0, dot) + ".weight");
  return codes != nullptr && codes->type == StoredType::f8_e4m3;
}

Rule by_type(const Container& container, const StoredTensor& tensor) {
  switch (tensor.type) {
    case StoredType::f32:
      return {true, Encoding::f32, ScaleType::none, Plane::codes};
    case StoredType::f16:
      return {true, Encoding::f16, ScaleType::none, Plane::codes};
    case StoredType::bf16:
      return {true, Encoding::bf16, ScaleType::none, Plane::codes};
    case StoredType::f8_e4m3:
      return {true, Encoding::mxfp8, ScaleType::e8m0, Plane::codes};
    case StoredType::f8_e8m0:
      return {true, scales_fp8(container, tensor.name) ? Encoding::mxfp8 : Encoding::mxfp4, ScaleType::e8m0,
              Plane::scales};
    default:
      break;
  }
  const std::optional<Encoding> blocks = block_encoding(tensor.type);
  if (!blocks) return {};
  return {true, *blocks, ScaleType::none, Plane::codes};
}

void take(std::vector<Rule>& rules, const Container& container, const MatrixSource& m) {
  const StoredTensor* first = container.tensors().data();
  // Where the codes take four bits every pattern is a number; a rule still says how many there are.
  rules[static_cast<std::size_t>(m.codes_tensor - first)] = {true, m.encoding, m.scale_type, Plane::codes};
  if (m.scales_tensor != nullptr && !m.scales.empty()) {
    rules[static_cast<std::size_t>(m.scales_tensor - first)] = {true, m.encoding, m.scale_type,
                                                                Plane::scales};
  }
}

}  // namespace

int Rule::unit_bytes() const { return known ? manyspan::unit_bytes(like(*this), plane) : 1; }

std::int64_t Rule::per_unit() const {
  if (!known || plane == Plane::scales) return 1;
  if (is_blocks(encoding)) return block_cols(encoding);
  return code_bits(encoding) == 4 ? 2 : 1;
}

std::optional<BadNumber> Rule::first_bad(Bytes part) const {
  if (!known) return std::nullopt;
  return first_bad_number(like(*this), plane, part);
}

std::vector<Rule> rules_of(const Container& container, const Weights* weights) {
  std::vector<Rule> rules;
  rules.reserve(container.tensors().size());
  for (const StoredTensor& tensor : container.tensors()) rules.push_back(by_type(container, tensor));
  if (weights == nullptr) return rules;
  for (const Slot& slot : weights->slots()) {
    for (std::int32_t e = 0; e < slot.matrices; ++e) {
      const MatrixSource* m = weights->find(slot.role, slot.layer, e);
      if (m != nullptr) take(rules, container, *m);
    }
  }
  return rules;
}

std::string shown_unit(const Rule& rule, Bytes unit) {
  if (unit.size() > 4) return "";
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < unit.size(); ++i) bits |= std::to_integer<std::uint32_t>(unit[i]) << (8 * i);
  char text[64];
  std::snprintf(text, sizeof text, "0x%0*x", static_cast<int>(2 * unit.size()), bits);
  float value = 0;
  if (unit.size() == 4) {
    value = load_little_endian<float>(unit.data());
  } else if (unit.size() == 2 && rule.encoding == Encoding::bf16) {
    value = to_float(Bf16{static_cast<std::uint16_t>(bits)});
  } else if (unit.size() == 2) {
    value = f16_to_float(static_cast<std::uint16_t>(bits));
  } else {
    return text;
  }
  char number[32];
  std::snprintf(number, sizeof number, " = %g", std::isnan(value) ? std::fabs(value) : value);
  return std::string(text) + number;
}

std::string shown_place(const StoredTensor& tensor, const Rule& rule, std::uint64_t at) {
  const StoredBlock block = block_of(tensor.type);
  std::uint64_t element = at * static_cast<std::uint64_t>(rule.unit_bytes()) /
                          static_cast<std::uint64_t>(block.bytes) *
                          static_cast<std::uint64_t>(block.elements);
  std::vector<std::uint64_t> index(tensor.shape.size());
  for (std::size_t i = index.size(); i-- > 0;) {
    const auto dim = static_cast<std::uint64_t>(std::max<std::int64_t>(tensor.shape[i], 1));
    index[i] = element % dim;
    element /= dim;
  }
  std::string text = "[";
  for (std::size_t i = 0; i < index.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(index[i]);
  return text + "]";
}

}  // namespace manyspan
