// File — a regular file opened for reading; it can be read at an offset or mapped.
//
// Owns       the descriptor (File) or the mapping (Mapping); each closes itself, a Mapping outlives its File
// Errors     not_found: no such file, not a regular one, or no permission; corrupt: shorter than what is read;
//            exhausted: too many open files, no memory, no address space. Messages begin with the path
// Threads    any, once open
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/result.h"

namespace manyspan {

enum class Access {
  in_order,
  at_random,
  soon,  // reading may begin before anybody asks
  done,  // what the system keeps of it may go
};

// A file's bytes in the address space. Touching a page that the file no longer has, because it was cut short
// after it was mapped, ends the process: whatever is not a test's reads with File::read_at.
class Mapping {
 public:
  Mapping() = default;  // of no bytes
  ~Mapping();
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;

  Bytes bytes() const { return bytes_; }

 private:
  friend class File;
  explicit Mapping(Bytes bytes) : bytes_(bytes) {}

  Bytes bytes_;
};

class File {
 public:
  // Follows symbolic links. Never waits, whatever `path` names.
  static Result<File> open(const std::string& path);
  ~File();
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }  // when it was opened

  // Fills `out` with the bytes from `offset` on, all of them or an error.
  Result<void> read_at(std::uint64_t offset, std::span<std::byte> out) const;

  // A wish about `bytes` bytes from `offset` on; the system may ignore it.
  void advise(std::uint64_t offset, std::uint64_t bytes, Access access) const;

  // All size() bytes.
  Result<Mapping> map() const;

 private:
  File(std::string path, int descriptor, std::uint64_t size)
      : path_(std::move(path)), descriptor_(descriptor), size_(size) {}
  Error too_short(std::uint64_t offset, std::uint64_t bytes) const;

  std::string path_;
  int descriptor_;
  std::uint64_t size_;
};

// A whole file; invalid if it has over `most_bytes`.
Result<std::string> read_file(const std::string& path, std::uint64_t most_bytes);

// Puts `parts`, one after the other, where `path` says: a reader sees the old file or the whole new one, and
// so does whoever comes after a failure. The directory must be writable. Links are followed, and what they lead
// to is replaced or made; an old file's permissions stay. A character device or a pipe is written to as it is
// (write_through.h); anything else that is no regular file is refused.
Result<void> write_file_atomically(const std::string& path, std::span<const Bytes> parts);
Result<void> write_file_atomically(const std::string& path, Bytes bytes);

// The same, of parts that are made one at a time: `next` is called until it gives an empty one, and may use the
// memory of the last one again. Its error ends the writing, and the old file stays.
using NextPart = std::function<Result<Bytes>()>;
Result<void> write_file_atomically(const std::string& path, const NextPart& next);

}  // namespace manyspan
