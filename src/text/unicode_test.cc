#include "text/unicode.h"

#include <string_view>
#include <utf8proc.h>

#include <gtest/gtest.h>

namespace manyspan::text {
namespace {

// What the general category's first letter says.
CharClass class_by_category(char32_t code) {
  const std::string_view category = utf8proc_category_string(static_cast<utf8proc_int32_t>(code));
  switch (category[0]) {
    case 'N':
      return CharClass::number;
    case 'L':
      return CharClass::letter;
    case 'M':
      return CharClass::mark;
    case 'P':
      return CharClass::punctuation;
    case 'S':
      return CharClass::symbol;
    case 'Z':
      return CharClass::space;
    default:
      return CharClass::other;
  }
}

TEST(Unicode, ClassesAgreeWithTheLibraryWhereverTheLibraryKnowsTheCharacter) {
  int known = 0;
  for (char32_t code = 0; code <= 0x10FFFF; ++code) {
    const std::string_view category = utf8proc_category_string(static_cast<utf8proc_int32_t>(code));
    if (category == "Cn" || category == "Cc") continue;
    ++known;
    ASSERT_EQ(class_of(code), class_by_category(code)) << std::hex << static_cast<std::uint32_t>(code);
  }
  EXPECT_GT(known, 280'000);
}

TEST(Unicode, WhiteSpaceIsExactlyWhatTheExpressionsTake) {
  for (const char32_t code :
       {0x09, 0x0D, 0x20, 0x85, 0xA0, 0x1680, 0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000}) {
    EXPECT_EQ(class_of(code), CharClass::space) << std::hex << static_cast<std::uint32_t>(code);
  }
  for (const char32_t code : {0x08, 0x0E, 0x1C, 0x1F, 0x180E, 0x200B, 0xFEFF}) {
    EXPECT_EQ(class_of(code), CharClass::other) << std::hex << static_cast<std::uint32_t>(code);
  }
}

TEST(Unicode, CharactersNewInVersion16AreKnownAndWhatIsNoCharacterIsOther) {
  EXPECT_EQ(class_of(0x1C89), CharClass::letter);  // Cyrillic capital Tje
  EXPECT_EQ(class_of(0xD800), CharClass::other);
  EXPECT_EQ(class_of(0xE0000), CharClass::other);
  EXPECT_EQ(class_of(0xE0100), CharClass::mark);
  EXPECT_EQ(class_of(0x110000), CharClass::other);
  EXPECT_EQ(class_of(0xFFFFFFFF), CharClass::other);
}

}  // namespace
}  // namespace manyspan::text
