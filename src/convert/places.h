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

// Before anything is written. `read`: every file and folder of the input.
Result<void> check_place(const Place& place, std::size_t files, const std::vector<std::string>& read,
                         bool overwrite);

// `more_bytes` have room on the disk that the result goes to.
Result<void> check_room(const Place& place, std::uint64_t more_bytes);

// Moves `files` of the partial folder to where they belong. A split set's first part comes last: until then nothing
// opens.
Result<void> put_in_place(const Place& place, const std::string& files, std::size_t count);

}  // namespace manyspan
