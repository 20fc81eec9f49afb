// output — the files of a result while they are made: in OUT.partial, with a journal by which an interrupted call goes on.
//
// OUT.partial holds `journal` and, in `files`, what will be the result. A line of the journal says how many bytes of a file
// are on the disk and their CRC-32C; they are read again and compared before a later call builds on them.
//
// Owns       the folder while it lives, locked against another process
// Errors     invalid: the folder is another conversion's, or in use · exhausted: the disk, with both numbers
// Threads    one
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/cancel.h"
#include "base/result.h"

namespace manyspan {

class Output {
 public:
  // `plan` tells one conversion from another.
  static Result<Output> open(const std::string& folder, std::uint64_t plan, bool restart);
  ~Output();
  Output(Output&& other) noexcept;
  Output& operator=(Output&&) = delete;

  // Bytes of the file that an earlier call left and that are still as it left them; all beyond them is gone. Nothing
  // where it was cancelled while they were compared: then all is as it was.
  Result<std::optional<std::uint64_t>> take_up(const std::string& name, const Cancel* cancel);

  // The next bytes of the file that take_up() opened.
  Result<void> append(Bytes bytes);

  // What was appended so far is on the disk, and the journal says so.
  Result<void> mark();

  std::string path(const std::string& name) const { return folder_ + "/files/" + name; }

  // Removes whatever else a killed call left among the files.
  void keep_only(const std::vector<std::string>& names) const;

  // `files` itself, to be moved away; and the rest of the folder, once they are.
  std::string files() const { return folder_ + "/files"; }
  void remove();

 private:
  struct Mark {
    std::uint64_t bytes;
    std::uint32_t sum;
  };

  explicit Output(std::string folder) : folder_(std::move(folder)) {}
  Result<void> read_journal(std::uint64_t plan);
  Result<void> write_line(const std::string& line);

  std::string folder_;
  int journal_ = -1, file_ = -1;
  std::map<std::string, Mark> marks_;
  std::string name_;  // of the file that is written
  std::uint64_t done_ = 0;
  std::uint32_t sum_ = 0;
};

}  // namespace manyspan
