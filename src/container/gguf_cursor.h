// GgufCursor — the front of a GGUF file, read forward in pieces: no claim of it makes anything large.
//
// Owns       a buffer of 64 KiB; the file must outlive it
// Errors     corrupt: fewer bytes are left than asked for, or text that is too long or not UTF-8; all else as
//            File::read_at. Messages do not name the file
// Threads    one
// Spec       containers.md B.1, B.2
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/bytes.h"
#include "base/file.h"
#include "base/result.h"

namespace manyspan {

class GgufCursor {
 public:
  explicit GgufCursor(const File& file) : file_(&file), size_(file.size()) {}
  // Of a file that is not there yet: its front, and how long it will be.
  GgufCursor(Bytes front, std::uint64_t size) : front_(front), size_(size) {}

  std::uint64_t position() const { return position_; }
  std::uint64_t left() const { return size_ - position_; }
  std::uint64_t file_size() const { return size_; }

  // `what` is for messages: "the value's type".
  Result<void> read(std::span<std::byte> out, std::string_view what);

  template <class Number>
  requires std::is_arithmetic_v<Number> Result<Number> number(std::string_view what) {
    std::byte bytes[sizeof(Number)];
    TRY(read(bytes, what));
    return load_little_endian<Number>(bytes);
  }

  // A length, then as many bytes of UTF-8, at most `most`.
  Result<std::string> text(std::uint64_t most, std::string_view what);

 private:
  const File* file_ = nullptr;
  std::vector<std::byte> buffer_;
  Bytes front_;  // what is at hand: from first_ on
  std::uint64_t first_ = 0;
  std::uint64_t size_ = 0, position_ = 0;
};

}  // namespace manyspan
