// TemporaryFolder — a new, empty folder that goes away with its owner; for tests.
//
// Owns       the folder and all that is put in it
#pragma once

#include <filesystem>
#include <fstream>
#include <stdlib.h>
#include <string>
#include <string_view>
#include <system_error>

#include "base/check.h"

namespace manyspan {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "manyspan-XXXXXX").string();
    CHECK(::mkdtemp(pattern.data()) != nullptr, "no folder for temporary files");
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

  // Writes a new file, in the place of one of that name; gives its path.
  std::string put(std::string_view name, std::string_view bytes) const {
    const std::string path = *this / name;
    std::error_code ignored;
    std::filesystem::remove(path,
                            ignored);  // some file systems wait for the disk where a file is overwritten
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path;
  }

 private:
  std::string path_;
};

}  // namespace manyspan
