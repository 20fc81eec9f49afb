// batch_view — one step's rows as a device sees them: runs of consecutive positions of several sessions.
//
// Rows of a run are adjacent and their positions consecutive; a session has at most one run in a batch.
// Addresses are fixed for the life of a stage; what they hold is uploaded once a step.
//
// Requires   rows past *used have position -1 and belong to no run
// Spec       interfaces.md A6
#pragma once

#include <cstdint>

#include "base/ids.h"
#include "kernels/op.h"

namespace manyspan::kernels {

struct Run {
  std::int32_t slot;  // which session: its row in page tables and tails
  Position first;     // position of its first row
  std::int32_t row;   // its first row in the batch
  std::int32_t rows;  // ≥ 1
};

// Bits of BatchView::marks.
inline constexpr std::uint8_t kMarkImageSpan = 1;  // routed by bias_vl; its Engram id is dead and its gate 0

struct BatchView {
  std::int32_t rows;              // capacity: shapes are sized by it
  const std::int32_t* used;       // [1] rows really there
  const TokenId* ids;             // [rows]
  const Position* position;       // [rows]
  const std::int32_t* slot;       // [rows]
  const std::uint8_t* marks;      // [rows]
  const Run* runs;                // [≤ rows]
  const std::int32_t* run_of;     // [rows] index into runs
  const std::int32_t* run_count;  // [1]

  template <class See>
  void views(See& see) {
    see.in("batch.used", used, 1), see.in("batch.ids", ids, rows), see.in("batch.position", position, rows);
    see.in("batch.slot", slot, rows), see.in("batch.marks", marks, rows), see.in("batch.runs", runs, rows);
    see.in("batch.run_of", run_of, rows), see.in("batch.run_count", run_count, 1);
  }
};

}  // namespace manyspan::kernels
