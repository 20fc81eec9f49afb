// reference_ops — the operations of the reference table, each the formula of its header as plain loops.
//
// Loops over rows, heads or matrix rows may be shared out among workers: every element is computed by one
// thread, in the order that the formula names.
#pragma once

#include "kernels/table.h"

namespace manyspan::kernels::reference {

#define MANYSPAN_ROW(Params, row) void row(Queue&, const Params&);
MANYSPAN_TABLE_ROWS(MANYSPAN_ROW)
#undef MANYSPAN_ROW

std::size_t mix_work(const Mix&);
std::size_t linear_work(const Linear&);
std::size_t remember_work(const Remember&);
std::size_t select_work(const Select&);
std::size_t attend_work(const Attend&);
std::size_t experts_work(const Experts&);

const char* linear_refuses(const Linear&);
const char* route_refuses(const Route&);
const char* experts_refuses(const Experts&);

}  // namespace manyspan::kernels::reference
