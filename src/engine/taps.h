// taps — the names of intermediates that can be asked for, and their final shape.
//
// Names, shapes and types are those of the oracle's golden files: "L3.attn_in" [P, D] bf16, "L3.selection"
// [P, most] i32 padded with -1, "L6.cand_blocks" [P, blocks] u8.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/request.h"
#include "model/trace_store.h"
#include "spec/layers.h"

namespace manyspan {

// Every key that this model has, as "L3.attn_in".
std::vector<std::string> tap_keys(const Blueprint& blueprint, const Schedule& schedule);

// `asked` may hold keys, or names without a layer for all layers that have them.
// Errors: invalid, naming what is unknown and listing what there is
Result<std::vector<std::string>> chosen_taps(const std::vector<std::string>& asked,
                                             const Blueprint& blueprint, const Schedule& schedule);

// Whether a trace must take `key` for `chosen` to be finished.
bool needed_for(const std::string& key, const std::vector<std::string>& chosen);

// From what a trace took, joined, to what was asked for.
std::map<std::string, Logits::Tap> finish_taps(const std::map<std::string, TraceStore::Tensor>& all,
                                               const std::vector<std::string>& chosen,
                                               const Blueprint& blueprint);

}  // namespace manyspan
