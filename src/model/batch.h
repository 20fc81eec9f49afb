// batch — one step's rows as the host describes them: runs of consecutive positions of several sessions.
//
// Shapes     rows T = Σ runs.rows · ids, marks [T] · sampled [R] row numbers, ascending · wishes [R]
// Requires   runs cover rows 0..T-1 in order; a slot appears once
// Owns       nothing: borrowed until the step has finished
// Spec       interfaces.md A6
#pragma once

#include <cstdint>
#include <span>

#include "base/ids.h"
#include "kernels/batch_view.h"
#include "kernels/sample/sample.h"

namespace manyspan {

struct Batch {
  std::span<const TokenId> ids;
  std::span<const kernels::Run> runs;
  std::span<const std::uint8_t> marks;
  std::span<const std::int32_t> sampled;  // rows whose logits are wanted
  std::span<const kernels::Next> wishes;  // one for each sampled row
  // Table rows of each Engram layer, in the blueprint's order of layers: [layer][T · columns].
  std::span<const std::span<const std::int64_t>> engram_rows;
};

}  // namespace manyspan
