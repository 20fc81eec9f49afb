// Manifest — the SHA-256 of files by name, in the form that sha256sum writes and checks.
//
//   <64 hexadecimal digits>, a blank, a blank or '*', the name
//
// A line whose name has a backslash or a line end begins with a backslash and spells them \\, \n and \r. Lines that
// begin with '#' and empty ones are passed over. Names are relative to the folder that the manifest speaks of.
//
// Errors     corrupt: a line of another form, a name twice, an absolute name, one with ".." or a zero byte. Messages
//            begin with the line's number
// Threads    pure
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace manyspan {

struct ManifestEntry {
  std::string hex;  // lower-case
  std::string name;
};

Result<std::vector<ManifestEntry>> parse_manifest(std::string_view text);

std::string manifest_text(const std::vector<ManifestEntry>& entries);

}  // namespace manyspan
