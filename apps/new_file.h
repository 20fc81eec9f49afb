// NewFile — a file that is there whole or not at all: written beside its name, and renamed when it is done.
//
// Owns       the unfinished file, which its destructor removes
// Errors     not_found: the folder is not there or can't be written; exhausted: the disk is full
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace manyspan::app {

class NewFile {
 public:
  // A path that names something else than a file (a pipe, /dev/null) is written directly.
  static Result<NewFile> create(const std::string& path);

  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();

  Result<void> write(std::string_view bytes);

  // Takes the place of what had the name before. Nothing can be written after it.
  Result<void> commit();

 private:
  NewFile(int file, std::string path, std::string unfinished)
      : file_(file), path_(std::move(path)), unfinished_(std::move(unfinished)) {}

  int file_;
  std::string path_;
  std::string unfinished_;  // empty: written directly, or committed
};

}  // namespace manyspan::app
