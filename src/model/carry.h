// Carry — everything that crosses from one layer to the next, and so from one device to the next.
//
// Owns       nothing: views of a stage's scratch, or of what a transfer keeps
// Spec       interfaces.md A12
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "kernels/pages.h"
#include "model/carver.h"
#include "spec/blueprint.h"
#include "tensor/bf16.h"

namespace manyspan {

struct Carry {
  Rows<Bf16> streams;  // [T, S·D]
  // [T, S] with which the next layer's attention reads the streams; a view of its maker's rows.
  Rows<float> pre;
  kernels::Selection selection;
  kernels::Candidates candidates;
  // [T, row bytes] the step's new rows and index keys of each KV source, in the blueprint's order, for devices that
  // keep a copy; no data where a carry has none of them.
  std::vector<Rows<std::byte>> published;

  // What a carry has besides streams and pre; `published` are KV sources, by their layers.
  struct Parts {
    bool selection, candidates;
    std::set<std::int32_t> published;
  };
  // Room for `rows` rows. What the carry has not has no data.
  static Carry lay_out(const Blueprint& blueprint, const Parts& parts, std::int64_t rows, Carver& carver);
};

}  // namespace manyspan
