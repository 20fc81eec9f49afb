// rule — which bytes of a stored tensor are numbers, scales or blocks, and which of their values are none.
//
// A tensor that the model uses follows the encoding that its weight was found to have. One that it does not, as those of
// the draft model, and every tensor of a file that is no whole model, follows its stored type alone.
//
// Threads    pure
// Spec       quant_formats.md 1 "strict mode"
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "container/container.h"
#include "weights/matrix_scan.h"
#include "weights/weights.h"

namespace manyspan {

struct Rule {
  bool known = false;  // else any bits are a value, or what they mean is not known: read, and no more
  Encoding encoding = Encoding::f32;
  ScaleType scale_type = ScaleType::none;
  Plane plane = Plane::codes;

  int unit_bytes() const;         // that a part must not cut
  std::int64_t per_unit() const;  // numbers that a unit holds

  // Of a part of whole units. `at` counts units.
  std::optional<BadNumber> first_bad(Bytes part) const;
};

// One for each of container.tensors(). `weights`: null where the container holds no whole model.
std::vector<Rule> rules_of(const Container& container, const Weights* weights);

// A unit as a person would look for it: "0x7f", "0x7fc0 = nan"; empty for a block.
std::string shown_unit(const Rule& rule, Bytes unit);

// Where unit `at` of the tensor is, by its dimensions: "[3, 17]"; of a block, its first number.
std::string shown_place(const StoredTensor& tensor, const Rule& rule, std::uint64_t at);

}  // namespace manyspan
