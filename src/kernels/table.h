// Table — one implementation of every operation of the text model, for one kind of device.
//
// A backend is a filled table; leave an entry out and it does not compile. A variant is a copied table with
// one row replaced. There is no fallback from one table to another.
//
// Spec       interfaces.md A1
#pragma once

#include <span>
#include <string_view>

#include "kernels/append/append.h"
#include "kernels/attend/attend.h"
#include "kernels/embed/embed.h"
#include "kernels/engram/engram_gate.h"
#include "kernels/engram/engram_rows.h"
#include "kernels/experts/experts.h"
#include "kernels/hyper/mix.h"
#include "kernels/hyper/turn.h"
#include "kernels/linear/linear.h"
#include "kernels/remember/remember.h"
#include "kernels/route/route.h"
#include "kernels/rows/gather.h"
#include "kernels/sample/sample.h"
#include "kernels/select/select.h"

namespace manyspan::kernels {

// Every row once: X(parameter struct, name). Whoever walks a table walks this list.
#define MANYSPAN_TABLE_ROWS(X) \
  X(Embed, embed)              \
  X(Turn, turn)                \
  X(Mix, mix)                  \
  X(Linear, linear)            \
  X(Remember, remember)        \
  X(Select, select)            \
  X(Attend, attend)            \
  X(Route, route)              \
  X(Experts, experts)          \
  X(EngramRows, engram_rows)   \
  X(EngramGate, engram_gate)   \
  X(Append, append)            \
  X(Gather, gather)            \
  X(Sample, sample)

struct Table {
  std::string_view name;  // "reference", "cpu-avx2"
  Tiling tiling;          // of the matrices it reads
  RowOrder expert_order;  // of gate_up
#define MANYSPAN_ROW(Params, row) Op<Params> row;
  MANYSPAN_TABLE_ROWS(MANYSPAN_ROW)
#undef MANYSPAN_ROW
};

// The definition of right: strict numerics, any tiling, any number of threads. Named `strict` on the command
// line.
extern const Table kReference;

// The host tables of this build that this machine can run, the fastest last; never empty.
std::span<const Table* const> host_tables();

}  // namespace manyspan::kernels
