// mutated_tables — copies of a table with one row replaced by one that makes a known mistake.
//
// A row is a plain function, so what it wraps lives in a static; one mutated table is in use at a time.
#pragma once

#include <cstdint>
#include <set>

#include "kernels/table.h"
#include "spec/blueprint.h"

namespace manyspan::test {

kernels::Table engram_off(const kernels::Table& inner);

// The layers listed attend to no compressed row.
kernels::Table selection_lost(const kernels::Table& inner, std::set<std::int32_t> layers);
kernels::Table compressed_rows_empty(const kernels::Table& inner, const Blueprint& blueprint);

kernels::Table pre_mix_reset(const kernels::Table& inner);  // every sublayer reads the first stream alone
kernels::Table candidate_filter_off(const kernels::Table& inner);
kernels::Table comb_transposed(const kernels::Table& inner);
kernels::Table query_normed_again(const kernels::Table& inner);  // each head's query to unit root mean square

// What another device sent is not added to this one's copy of a source.
kernels::Table append_off(const kernels::Table& inner);
// The sessions in slots 1 and 2 find their window, or their compressed rows, through the table of slot 1.
kernels::Table window_pages_shared(const kernels::Table& inner);
kernels::Table source_pages_shared(const kernels::Table& inner);

}  // namespace manyspan::test
