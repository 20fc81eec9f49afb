// blank_weights — the shapes of a model's weights, without a byte of them: for worlds where nothing is done.
//
// Encodings are those that config.json implies.
#pragma once

#include <memory>

#include "kernels/table.h"
#include "prepared/prepared.h"
#include "spec/blueprint.h"

namespace manyspan::test {

// Of all layers, as `table` arranges them. Every stage may use it.
std::unique_ptr<Prepared> blank_weights(const Blueprint& blueprint, const kernels::Table& table);

}  // namespace manyspan::test
