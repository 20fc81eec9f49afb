// described — properties of what several targets read: a model's numbers, its tokenizer, Engram's rows.
#pragma once

#include <string_view>

#include "spec/blueprint.h"
#include "spec/engram_map.h"
#include "tests/fuzz/target.h"
#include "text/tokenizer.h"

namespace manyspan::fuzz {

Outcome blueprint_holds(const Blueprint& blueprint);

// `text`: any bytes, to be encoded.
Outcome tokenizer_holds(const text::Tokenizer& tokenizer, std::string_view text);

Outcome engram_holds(const EngramMap& map, const Blueprint& blueprint);

}  // namespace manyspan::fuzz
