// Bytes — a borrowed run of bytes, and a cursor that cannot read past its end.
//
// Numbers are little-endian and may stand at any address.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include "base/result.h"

namespace manyspan {

static_assert(std::endian::native == std::endian::little, "every supported machine is little-endian");

using Bytes = std::span<const std::byte>;

inline Bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }
inline std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <class Number>
requires std::is_arithmetic_v<Number> Number load_little_endian(const std::byte* from) {
  Number number;
  std::memcpy(&number, from, sizeof number);
  return number;
}

template <class Number>
requires std::is_arithmetic_v<Number>
void store_little_endian(Number number, std::byte* to) { std::memcpy(to, &number, sizeof number); }

// Errors     corrupt, with the position and both counts, where fewer bytes are left than asked for; the
// cursor
//            then stays where it was
class ByteCursor {
 public:
  explicit ByteCursor(Bytes bytes) : bytes_(bytes) {}

  std::size_t position() const { return position_; }
  std::size_t left() const { return bytes_.size() - position_; }

  Result<Bytes> take(std::uint64_t count);

  template <class Number>
  requires std::is_arithmetic_v<Number> Result<Number> number() {
    return load_little_endian<Number>(TRY(take(sizeof(Number))).data());
  }

 private:
  Bytes bytes_;
  std::size_t position_ = 0;
};

}  // namespace manyspan
