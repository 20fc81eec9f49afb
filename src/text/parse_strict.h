// parse_strict — splits one finished output, refusing whatever is not exactly what the prompt asked for.
//
// Specification: prompt encoding, section 8, "strict offline parser". It keeps every newline. For tests and
// for checking conversations; a server uses parse.h, which never refuses.
//
// Requires   the output without its end-of-sentence token
// Errors     missing </think> · a control token inside text · anything but the exact form of the calls · a
//            repeated parameter · text after the calls
// Cost       up to the product of length and calls: not for what strangers send
#pragma once

#include <string_view>

#include "base/result.h"
#include "text/parse.h"

namespace manyspan::text {

Result<ParsedOutput> parse_strict(std::string_view output, bool thinking);

}  // namespace manyspan::text
