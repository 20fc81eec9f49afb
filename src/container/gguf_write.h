// write_gguf — keys and tensors to one GGUF file of version 3, whole or not at all.
//
// Tensors are written in the order given. A set of several files is as many calls, each with its split.* keys.
//
// Requires   data exactly as long as type and shape say; a type that GGUF has
// Errors     as write_file_atomically; invalid for whatever the reader of such files would refuse
// Spec       containers.md B.1
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "container/gguf_metadata.h"
#include "container/safetensors_write.h"

namespace manyspan {

// Keys and values, encoded as they are added.
class GgufKeys {
 public:
  void add(std::string_view key, std::string_view text);
  void add(std::string_view key, const char* text) { add(key, std::string_view(text)); }
  void add(std::string_view key, const std::vector<std::string>& texts);

  // Of any arithmetic type that GGUF has, bool included.
  template <class Number>
  requires std::is_arithmetic_v<Number>
  void add(std::string_view key, Number number) {
    begin(key, type_of<Number>());
    put(number);
  }
  template <class Number>
  requires std::is_arithmetic_v<Number>
  void add(std::string_view key, const std::vector<Number>& numbers) {
    begin_list(key, type_of<Number>(), numbers.size());
    for (const Number number : numbers) put(number);
  }

  std::uint64_t count() const { return count_; }
  std::string_view bytes() const { return bytes_; }

 private:
  template <class Number>
  static constexpr GgufValue type_of() {
    if constexpr (std::is_same_v<Number, bool>) return GgufValue::boolean;
    if constexpr (std::is_floating_point_v<Number>)
      return sizeof(Number) == 4 ? GgufValue::f32 : GgufValue::f64;
    constexpr bool minus = std::is_signed_v<Number>;
    switch (sizeof(Number)) {
      case 1:
        return minus ? GgufValue::i8 : GgufValue::u8;
      case 2:
        return minus ? GgufValue::i16 : GgufValue::u16;
      case 4:
        return minus ? GgufValue::i32 : GgufValue::u32;
      default:
        return minus ? GgufValue::i64 : GgufValue::u64;
    }
  }

  template <class Number>
  void put(Number number) {
    std::byte bytes[sizeof(Number)];
    store_little_endian(number, bytes);
    bytes_ += text_of(bytes);
  }
  void put_text(std::string_view text) {
    put(static_cast<std::uint64_t>(text.size()));
    bytes_ += text;
  }
  void begin(std::string_view key, GgufValue type);
  void begin_list(std::string_view key, GgufValue type, std::size_t count);

  std::string bytes_;
  std::uint64_t count_ = 0;
};

// All that stands before the data, padded. Each tensor's data begins at the padded end of the one before. `alignment`
// becomes a key where it is not the usual 32.
Result<std::string> gguf_front(GgufKeys keys, std::span<const TensorOutline> tensors,
                               std::uint32_t alignment = 32);

Result<void> write_gguf(const std::string& path, GgufKeys keys, std::span<const TensorToWrite> tensors,
                        std::uint32_t alignment = 32);

}  // namespace manyspan
