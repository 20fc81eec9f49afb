#include "base/utf8.h"

#include <cstdint>

#include <gtest/gtest.h>

#include "text/utf8_chars.h"

namespace manyspan::text {
namespace {

TEST(Utf8, EveryCharacterReadsBackAsWritten) {
  for (char32_t code = 0; code <= 0x10FFFF; ++code) {
    if (code >= 0xD800 && code <= 0xDFFF) continue;
    std::string text;
    append_utf8(text, code);
    const Character character = character_at(text, 0);
    ASSERT_TRUE(character.valid && character.code == code && character.bytes == text.size())
        << static_cast<std::uint32_t>(code);
  }
}

TEST(Utf8, EveryMaximalInvalidPrefixBecomesOneReplacement) {
  EXPECT_EQ(replace_invalid_utf8("a\xFF\xC3(\xE4\xBD"), "a\uFFFD\uFFFD(\uFFFD");
  EXPECT_EQ(replace_invalid_utf8("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");            // a surrogate
  EXPECT_EQ(replace_invalid_utf8("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");  // above U+10FFFF
  EXPECT_EQ(replace_invalid_utf8("\xC0\xAF\xE0\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");  // longer than need be
  EXPECT_FALSE(is_valid_utf8("\xF0\x9F\x98"));
  EXPECT_TRUE(is_valid_utf8("a\u00E9\u4F60\U0001F600"));
}

TEST(Utf8, BytesComingOneByOneAreReplacedAsWholeTextIs) {
  std::uint32_t random = 1;
  constexpr unsigned char kTelling[] = {'a',  0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF,
                                        0xC2, 0xE0, 0xE4, 0xED, 0xF0, 0xF4, 0xFF};
  for (int round = 0; round < 20000; ++round) {
    std::string bytes;
    for (int i = 0; i < 8; ++i) {
      random = random * 1664525 + 1013904223;
      bytes += static_cast<char>(kTelling[(random >> 16) % sizeof(kTelling)]);
    }
    std::string streamed;
    const auto take = [&](std::string_view character) { streamed += character; };
    Utf8Chars chars;
    for (const char byte : bytes) chars.push(static_cast<unsigned char>(byte), take);
    chars.finish(take);
    ASSERT_EQ(streamed, replace_invalid_utf8(bytes)) << round;
  }
}

}  // namespace
}  // namespace manyspan::text
