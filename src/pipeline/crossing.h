// crossing — what must come along when a step's streams go from one stage to the next.
//
// Derived from who makes and who reads what, over the whole model: a selection is made at one layer and used by the
// next ones, candidates by layers far above, and rows of a KV source are appended to the copy of every stage that has
// a reader. check_supply() walks the same ground the other way, as a step would, and trusts nothing of it.
//
// Threads    pure functions
// Spec       model.md 3, 7; interfaces.md A12
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <vector>

#include "base/result.h"
#include "prepared/placement.h"
#include "spec/layers.h"

namespace manyspan {

// What enters a visit from the one before it, besides streams and pre, which always do.
struct Crossing {
  bool selection = false, candidates = false;
  // KV sources, by their layers, whose new rows of this step come along; and those of them that are appended to the
  // copy that this stage keeps.
  std::set<std::int32_t> published, appended;
};

// Which of them has the layer.
std::size_t visit_of(std::span<const Visit> visits, LayerId layer);

// One for each visit; the first has none.
std::vector<Crossing> crossings(const Schedule& schedule, std::span<const Visit> visits);

// Whether each layer finds what it reads.
// Errors: invalid, naming the layer and what it lacks
Result<void> check_supply(const Schedule& schedule, std::span<const Visit> visits,
                          std::span<const Crossing> crossings);

// "streams, pre, selection of 14, rows of 14"
std::string describe(const Schedule& schedule, const Visit& visit, const Crossing& crossing);

}  // namespace manyspan
