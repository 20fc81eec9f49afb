// reference_ops — the operations of the reference table, each the formula of its header as plain loops.
#pragma once

#include "kernels/table.h"

namespace manyspan::kernels::reference {

#define MANYSPAN_ROW(Params, row) void row(Queue&, const Params&);
MANYSPAN_TABLE_ROWS(MANYSPAN_ROW)
#undef MANYSPAN_ROW

}  // namespace manyspan::kernels::reference
