// MadeFile — a file in memory that has a path, written anew for each input.
//
// A weight file's front is small and its data are large. An input that stands for one therefore begins with four bytes,
// little-endian: how many zero bytes the file has behind the rest of the input, at most kMostZeros. They take no memory.
//
// Owns       the file
// Threads    one
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace manyspan::fuzz {

inline constexpr std::uint32_t kMostZeros = std::uint32_t{64} << 20;

class MadeFile {
 public:
  MadeFile();
  ~MadeFile();
  MadeFile(const MadeFile&) = delete;
  MadeFile& operator=(const MadeFile&) = delete;

  void hold(std::string_view bytes, std::uint32_t zeros = 0);
  // The file that an input with a count of zeros stands for.
  void hold_front(std::string_view input);

  const std::string& path() const { return path_; }

 private:
  int descriptor_;
  std::string path_;
};

}  // namespace manyspan::fuzz
