// utf8_chars — cuts a stream of bytes into whole characters, however the bytes arrive.
//
// A byte that can never complete a character is replaced at once by U+FFFD, one for each maximal
// invalid prefix. At most three bytes are ever held.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace manyspan::text {

inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

class Utf8Chars {
 public:
  // Calls take(std::string_view character) once if `byte` completes a character, twice if it also ends a
  // broken one, else not at all.
  template <class Take>
  void push(unsigned char byte, Take&& take) {
    if (missing_ > 0) {
      if (byte >= lowest_ && byte <= highest_) {
        held_ += static_cast<char>(byte);
        lowest_ = 0x80;
        highest_ = 0xBF;
        if (--missing_ == 0) release(take);
        return;
      }
      missing_ = 0;
      held_.clear();
      take(kReplacement);
    }
    begin(byte);
    if (missing_ == 0) release(take);
  }

  // Ends the stream: an incomplete character becomes U+FFFD.
  template <class Take>
  void finish(Take&& take) {
    if (missing_ > 0) take(kReplacement);
    missing_ = 0;
    held_.clear();
  }

 private:
  void begin(unsigned char byte) {
    lowest_ = byte == 0xE0 ? 0xA0 : byte == 0xF0 ? 0x90 : 0x80;   // shorter spellings
    highest_ = byte == 0xED ? 0x9F : byte == 0xF4 ? 0x8F : 0xBF;  // surrogates; above U+10FFFF
    const bool stray = (byte >= 0x80 && byte < 0xC2) || byte > 0xF4;
    missing_ = byte < 0x80 || stray ? 0 : byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
    if (stray) {
      held_ = kReplacement;
    } else {
      held_.assign(1, static_cast<char>(byte));
    }
  }

  template <class Take>
  void release(Take&& take) {
    take(std::string_view(held_));
    held_.clear();
  }

  std::string held_;
  int missing_ = 0;
  unsigned char lowest_ = 0x80, highest_ = 0xBF;
};

}  // namespace manyspan::text
