// gguf — GGUF files as parts of a container: a file alone, or all parts of a split set.
//
// Errors     corrupt: against the format's rules, or parts that do not belong together; not_found: no file, or a
//            part is missing; unsupported: another version, byte order or type; invalid: a set that is opened by
//            another part than its first. Messages begin with the file that was to be opened
// Spec       containers.md B.1 to B.3; quant_formats.md 6
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "container/container.h"

namespace manyspan {

// One file, whatever its keys say about a set.
Result<Container::Part> read_gguf(const std::string& path);

// The file, or, where it says that it is the first part of a set, all of its parts.
Result<std::vector<Container::Part>> read_gguf_model(const std::string& path);

// The one model among `names`, the .gguf files of a folder.
Result<std::vector<Container::Part>> read_gguf_of(const std::string& folder,
                                                  const std::vector<std::string>& names);

}  // namespace manyspan
