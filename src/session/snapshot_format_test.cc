#include "session/snapshot_format.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "base/crc32c.h"
#include "session/packed_rows.h"

namespace manyspan {
namespace {

Blueprint released() {
  std::ifstream file(MANYSPAN_SOURCE_DIR "/tests/data/configs/release.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return read_blueprint(text).value();
}

TEST(PackedRows, ReleasedSizesTake890BytesAToken) {
  const Blueprint b = released();
  double bytes = 0;
  for (const std::int32_t source : b.kv_sources) {
    bytes += static_cast<double>(source_rows(b).row_bytes()) / b.compress_ratios[source];
  }
  EXPECT_EQ(bytes, 890);
  EXPECT_EQ(source_rows(b).row_bytes(), 288 + 68);
  EXPECT_EQ(window_rows(b).row_bytes(), 512 + 16);
}

TEST(PackedRows, AFileGrowsBy890BytesATokenAndItsIds) {
  const Blueprint b = released();
  const std::int64_t at = 100'000, more = 2'000;
  const auto bytes = [&](std::int64_t tokens) { return snapshot_bytes(snapshot_sections(b, tokens)); };
  EXPECT_EQ(bytes(at + more) - bytes(at), more * (890 + 4 + 4));
}

TEST(PackedRows, ComeBackAsTheyWereAndLieSideBySide) {
  const Blueprint b = released();
  for (const RowLayout& layout : {window_rows(b), source_rows(b), tail_rows(b)}) {
    std::vector<std::byte> page(layout.page_bytes), back(layout.page_bytes);
    for (std::size_t i = 0; i < page.size(); ++i) page[i] = static_cast<std::byte>(i * 31 + i / 256);
    std::vector<std::byte> packed(layout.page_rows * layout.row_bytes());
    pack_rows(layout, page, 0, layout.page_rows, packed);
    unpack_rows(layout, packed, 0, layout.page_rows, back);
    EXPECT_EQ(back, page) << "released pages have no padding";
    std::vector<std::byte> two(2 * layout.row_bytes());
    pack_rows(layout, page, 3, 2, two);
    EXPECT_TRUE(std::equal(two.begin(), two.end(), packed.begin() + 3 * layout.row_bytes()));
  }
}

TEST(PackedRows, NumbersThatNoModelWritesAreSeen) {
  const Blueprint b = released();
  for (const RowLayout& layout : {window_rows(b), source_rows(b), tail_rows(b)}) {
    const std::vector<std::byte> zeros(3 * layout.row_bytes());
    EXPECT_TRUE(rows_are_finite(layout, zeros));
    std::int64_t at = layout.row_bytes();
    for (const RowLayout::Field& field : layout.fields) {
      std::vector<std::byte> bad = zeros;
      std::fill_n(bad.begin() + at, 4, std::byte{0xff});
      EXPECT_EQ(rows_are_finite(layout, bad), field.number == RowLayout::Number::e2m1_pairs);
      at += field.bytes;
    }
  }
}

TEST(SnapshotFormat, AHeaderComesBackAsItWas) {
  const SnapshotHeader header{7, 1234, {.model = 0xfedcba98, .weights = 5, .numerics = "cpu-avx2"}};
  const auto read = read_header(write_header(header)).value();
  EXPECT_EQ(read.tokens, 7);
  EXPECT_EQ(read.bytes, 1234);
  EXPECT_EQ(read.origin, header.origin);
}

TEST(SnapshotFormat, AnyFlippedBitOfAHeaderIsRefused) {
  auto bytes = write_header({7, 1234, {.model = 3, .weights = 5, .numerics = "reference"}});
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    EXPECT_FALSE(read_header(bytes).ok()) << bit;
    bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
  }
}

TEST(SnapshotFormat, ANameOfNumericsThatIsNoTextIsRefused) {
  constexpr std::size_t kNumericsAt = 40, kSumAt = 76;
  for (const std::string& name : {std::string(kMostNumericsBytes + 1, 'x'), std::string("cpu\xff")}) {
    auto bytes = write_header({7, 1000, {1, 2, ""}});
    std::copy_n(bytes_of(name).begin(), name.size(), bytes.begin() + kNumericsAt);
    store_little_endian(crc32c(Bytes(bytes).first(kSumAt)), &bytes[kSumAt]);
    const auto header = read_header(bytes);
    ASSERT_FALSE(header.ok());
    EXPECT_EQ(header.error().message(), "header: the name of its numerics is not text of at most 31 bytes");
  }
}

TEST(SnapshotFormat, ASectionIsKnownByItsHeadAndItsSum) {
  const SnapshotSection section{SnapshotSection::Tag::rows, {2}, 0, 3, 5};
  std::vector<std::byte> whole(section.bytes(), std::byte{9});
  seal(section, whole);
  EXPECT_TRUE(check_section(section, whole).ok());
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    whole[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    EXPECT_FALSE(check_section(section, whole).ok()) << bit;
    whole[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
  }
  SnapshotSection other = section;
  other.layer = {8};
  EXPECT_EQ(check_section(other, whole).error().message(), "rows of source 8: its head says something else");
}

TEST(SnapshotFormat, TailsBeginWhereTheOldestOpenGroupDoes) {
  Blueprint b{};
  b.compress_ratios = {4, 3, 1};
  b.kv_sources = {0, 1, 2};
  EXPECT_EQ(first_open_group(b, 12), 12);
  EXPECT_EQ(first_open_group(b, 13), 12);
  EXPECT_EQ(first_open_group(b, 15), 12);
  EXPECT_EQ(first_open_group(b, 16), 15);
}

}  // namespace
}  // namespace manyspan
