// places — where the result goes, that nothing is lost by it, and the last step: putting it there.
//
// Errors     invalid: something is there, or it is the input by whatever name or link · exhausted: the disk
// Threads    one
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "convert/recipe.h"

namespace manyspan {

struct Place {
  std::string out;  // without a slash at its end
  Target target;
  std::string partial() const { return out + ".partial"; }

  // Of the i-th of `count` files: its name in the folder, and where it will be.
  std::string file_name(std::size_t i, std::size_t count) const;
  std::string final_path(std::size_t i, std::size_t count) const;
};

Result<Place> place_of(const std::string& out);

// A file or folder of the input, known again under any other name.
struct ReadFile {
  std::string path;
  std::uint64_t device, number;
};
// Those of the paths that are there.
std::vector<ReadFile> known_files(const std::vector<std::string>& paths);

// Before anything is written, and once more before the result is put there. `read`: every file and folder of the input.
Result<void> check_place(const Place& place, std::size_t files, const std::vector<ReadFile>& read,
                         bool overwrite);

// A result of `bytes` has room on its disk. What an earlier call left in the partial folder takes some of it already.
Result<void> check_room(const Place& place, std::uint64_t bytes);

// Moves `files` of the partial folder to where they belong. A split set's first part comes last: until then nothing
// opens. Without `overwrite` nothing is replaced, also where it came there just now; with it, a set of the same name that
// has another number of parts goes.
Result<void> put_in_place(const Place& place, const std::string& files, std::size_t count, bool overwrite);

}  // namespace manyspan
