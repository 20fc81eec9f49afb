// cpu_ops — the operations of a host table, declared once for each instruction set, in its own namespace.
//
// Only *_cpu.cc files include this; each is compiled once per instruction set with MANYSPAN_ISA naming it.
// What they define stays in that namespace, so that the linker can never pick code for a newer machine than
// the one at hand.
#pragma once

#include "kernels/table.h"

#if !defined(MANYSPAN_ISA)
#define MANYSPAN_ISA generic
#endif

namespace manyspan::kernels::MANYSPAN_ISA {

#define MANYSPAN_ROW(Params, row)        \
  void row(Queue&, const Params&);       \
  std::size_t row##_work(const Params&); \
  const char* row##_refuses(const Params&);
MANYSPAN_TABLE_ROWS(MANYSPAN_ROW)
#undef MANYSPAN_ROW

}  // namespace manyspan::kernels::MANYSPAN_ISA
