// precision — how coarsely each weight may be stored, and what is lost where it is stored more coarsely than is good.
//
// A matrix may be in any encoding, but for those whose rounding changes what the model does rather than how well: the
// streams' mixes, routers, sinks and gains, which have floors, and the embedding, which has one at 4 bits.
//
// Threads    pure
// Spec       containers.md B.6
#pragma once

#include <string_view>

#include "spec/slots.h"
#include "tensor/encoding.h"

namespace manyspan {

EncodingSet allowed_encodings(Role role);

// What a reader should know of a weight that is stored so; empty: nothing. Requires an allowed encoding.
std::string_view concern(Role role, Encoding encoding);

// Bits of storage that a number takes, scales in blocks counted, other scales not.
double bits_a_number(Encoding encoding);

}  // namespace manyspan
