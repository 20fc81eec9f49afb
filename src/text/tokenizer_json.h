// tokenizer_json — reads a tokenizer.json of the one kind that is understood here.
//
// Anything that would make the same text give other ids (a normaliser, other split expressions, another model
// type, trimming added tokens) is refused. Specification: tokenizer, section 3.
//
// Errors     corrupt: not JSON, keys missing or of the wrong type, ids with holes, twice or out of range;
//            unsupported: well-formed, but tokenises in another way. Messages begin with `name`
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "text/vocabulary.h"

namespace manyspan::text {

// The expressions that text is cut by before merging, in order: the only ones that are understood.
std::span<const std::string_view> tokenizer_splits();

Result<Vocabulary> read_tokenizer_json(std::string_view json, const std::string& name);

}  // namespace manyspan::text
