#include "base/crc32c.h"

#include <string>

#include <gtest/gtest.h>

namespace manyspan {
namespace {

TEST(Crc32c, GivesThePublishedSums) {
  EXPECT_EQ(crc32c(bytes_of("")), 0u);
  EXPECT_EQ(crc32c(bytes_of("123456789")), 0xE3069283u);
  // RFC 3720, B.4
  EXPECT_EQ(crc32c(bytes_of(std::string(32, '\0'))), 0x8A9136AAu);
  EXPECT_EQ(crc32c(bytes_of(std::string(32, '\xff'))), 0x62A8AB43u);
  std::string ascending;
  for (int i = 0; i < 32; ++i) ascending += static_cast<char>(i);
  EXPECT_EQ(crc32c(bytes_of(ascending)), 0x46DD794Eu);
}

TEST(Crc32c, OfTwoPartsIsThatOfTheWholeWhereverItIsCut) {
  const std::string whole = "A page is a fixed number of remembered rows.";
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    const std::uint32_t first = crc32c(bytes_of(whole.substr(0, cut)));
    EXPECT_EQ(crc32c(bytes_of(whole.substr(cut)), first), crc32c(bytes_of(whole))) << cut;
  }
}

TEST(Crc32c, AnyFlippedBitShows) {
  std::string text = "seventeen bytes..";
  const std::uint32_t right = crc32c(bytes_of(text));
  for (std::size_t bit = 0; bit < 8 * text.size(); ++bit) {
    text[bit / 8] = static_cast<char>(text[bit / 8] ^ 1 << bit % 8);
    EXPECT_NE(crc32c(bytes_of(text)), right) << bit;
    text[bit / 8] = static_cast<char>(text[bit / 8] ^ 1 << bit % 8);
  }
}

}  // namespace
}  // namespace manyspan
