#include "spec/engram_map.h"

#include <numeric>

#include <gtest/gtest.h>

#include "spec/pcg64.h"
#include "spec/primes.h"

namespace manyspan {
namespace {

TEST(Pcg64, SpreadsASeedAsNumpyDoes) {
  const std::array<std::uint64_t, 4> expected{0x77d32a348ad70d07, 0x993ed609b84a4fa5, 0xd5f972dec8698e49,
                                              0x7d79ebaebcf148de};
  EXPECT_EQ(Pcg64::spread(10007), expected);
}

TEST(Primes, AgreeWithTrialDivision) {
  for (std::uint64_t n = 0; n < 5000; ++n) {
    bool prime = n > 1;
    for (std::uint64_t d = 2; d * d <= n; ++d) prime = prime && n % d != 0;
    EXPECT_EQ(is_prime(n), prime) << n;
  }
  EXPECT_FALSE(is_prime(3215031751));  // deceives the bases 2, 3, 5 and 7
  EXPECT_TRUE(is_prime((std::uint64_t{1} << 61) - 1));
}

TEST(EngramMultipliers, OfTheReleaseAreTheSpecifications) {
  EXPECT_EQ(engram_multipliers(1, 4, 99092),
            (std::vector<std::int64_t>{76632096046245, 4839876093313, 35959672319349, 73987337458391}));
  EXPECT_EQ(engram_multipliers(14, 4, 99092),
            (std::vector<std::int64_t>{67716810739261, 51510806800915, 30921347202721, 82619226485591}));
}

TEST(EngramPrimes, OfTheReleaseAreTheSpecifications) {
  const auto primes = engram_primes(2, 4, 8, 16000000);
  ASSERT_EQ(primes[0].size(), 24u);
  EXPECT_EQ(primes[0][0], 16000057);
  EXPECT_EQ(primes[0][8], 16000189);
  EXPECT_EQ(primes[0][23], 16000463);
  EXPECT_EQ(primes[1][0], 16000477);
  EXPECT_EQ(primes[1][23], 16000889);
  EXPECT_EQ(std::accumulate(primes[0].begin(), primes[0].end(), std::int64_t{0}), 384006168);
  EXPECT_EQ(std::accumulate(primes[1].begin(), primes[1].end(), std::int64_t{0}), 384016682);
}

// The numbers of the oracle's t1_base; classes by a map that gives what its tokens 5, 17, 2, image, 99, 17
// have.
Blueprint small() {
  Blueprint b{};
  b.vocabulary = 150;
  b.engram = {{1, 3}, {304, 462}, 4, 40, 2, 32, 1, 150};
  return b;
}

EngramMap small_map() {
  std::vector<std::int32_t> same(150);
  std::iota(same.begin(), same.end(), 0);
  return EngramMap::create(small(), same).value();
}

const std::vector<std::int32_t> kClasses{3, 7, 1, kDeadClass, 38, 7};

TEST(EngramMap, RowsAreTheOracles) {
  const EngramMap map = small_map();
  ASSERT_EQ(map.columns(), 6);
  EXPECT_EQ(map.layers()[0].rows, 304);
  EXPECT_EQ(map.layers()[1].rows, 462);
  const std::vector<std::int64_t> first{4,  41, 89,  166, 240, 300, 0,  75, 123, 163, 215, 253,
                                        35, 63, 116, 162, 193, 244, 19, 50, 98,  169, 184, 253,
                                        19, 67, 93,  139, 234, 256, 28, 54, 121, 166, 195, 268};
  const std::vector<std::int64_t> second{27, 86,  210, 276, 342, 438, 14, 68,  156, 260, 315, 374,
                                         30, 85,  194, 256, 359, 449, 29, 122, 152, 245, 370, 422,
                                         9,  114, 166, 287, 293, 427, 6,  67,  144, 261, 319, 409};
  std::vector<std::int64_t> rows(36);
  map.rows(0, kClasses, 0, rows);
  EXPECT_EQ(rows, first);
  map.rows(1, kClasses, 0, rows);
  EXPECT_EQ(rows, second);
}

TEST(EngramMap, ATokenNeedsOnlyItsLookback) {
  const EngramMap map = small_map();
  std::vector<std::int32_t> classes(40);
  for (std::size_t i = 0; i < classes.size(); ++i) classes[i] = static_cast<std::int32_t>(i * 37 % 150);
  classes[20] = kDeadClass;
  std::vector<std::int64_t> whole(classes.size() * 6);
  map.rows(1, classes, 0, whole);
  const auto lookback = static_cast<std::size_t>(map.lookback());
  for (std::size_t p = lookback; p < classes.size(); ++p) {
    std::vector<std::int64_t> one(6);
    map.rows(1, std::span(classes).subspan(p - lookback, lookback + 1), lookback, one);
    EXPECT_TRUE(std::equal(one.begin(), one.end(), whole.begin() + static_cast<std::ptrdiff_t>(p) * 6)) << p;
  }
}

std::string refusal(std::vector<std::int32_t> map) {
  auto made = EngramMap::create(small(), std::move(map));
  return made.ok() ? "" : made.error().message();
}

TEST(EngramMap, AMapOfAnotherModelIsRefused) {
  std::vector<std::int32_t> map(150);
  std::iota(map.begin(), map.end(), 0);
  EXPECT_EQ(refusal(map), "");
  auto shorter = map;
  shorter.pop_back();
  EXPECT_NE(refusal(shorter).find("149 entries for a vocabulary of 150"), std::string::npos);
  auto above = map;
  above[9] = 150;
  EXPECT_NE(refusal(above).find("token 9 has class 150"), std::string::npos);
  auto negative = map;
  negative[9] = -1;
  EXPECT_NE(refusal(negative).find("token 9 has class -1"), std::string::npos);
  auto fewer = map;
  fewer[9] = 8;
  EXPECT_NE(refusal(fewer).find("149 classes"), std::string::npos);
}

}  // namespace
}  // namespace manyspan
