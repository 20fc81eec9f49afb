// The law of cutting: however the layers are spread over devices, the bits are those of one device.
#include <bit>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "model/trace_store.h"
#include "tests/support/spread.h"

namespace manyspan::test {
namespace {

constexpr Limits kLimits{.step_rows = 40, .sampled_rows = 40, .sessions = 2, .context = 256};
constexpr std::int64_t kTokens = 60;
const std::vector<std::int64_t> kChunks = {33, 1, 20};  // then token by token

std::int32_t layers_of(const LawCase& law) { return checkpoint(law.model).blueprint.layers; }

// A prompt in chunks, and decoding, on simulated devices under one seed.
void expect_right(LawCase law, const Placement& placement, std::uint64_t seed) {
  law.devices = static_cast<std::int32_t>(placement.stages.size());
  Spread spread(law, kLimits, seed, placement);
  EXPECT_EQ(first_difference(right_logits(law, 0, kTokens),
                             spread->logits(law_prompt(law.model, 0, kTokens), kChunks)),
            -1);
}

void every_single_cut(const LawCase& law) {
  const std::int32_t layers = layers_of(law);
  for (std::int32_t at = 1; at < layers; ++at) {
    SCOPED_TRACE(testing::Message() << "cut at " << at);
    expect_right(law, cut_at({at, layers}), at);
  }
}

// Every way to give eight devices one range each.
std::vector<std::vector<std::int32_t>> cuts_in_eight(std::int32_t layers) {
  std::vector<std::vector<std::int32_t>> all;
  for (std::uint32_t bits = 0; bits < 1u << (layers - 1); ++bits) {
    if (std::popcount(bits) != 7) continue;
    std::vector<std::int32_t> ends;
    for (std::int32_t l = 1; l < layers; ++l) {
      if ((bits >> (l - 1) & 1) != 0) ends.push_back(l);
    }
    ends.push_back(layers);
    all.push_back(ends);
  }
  return all;
}
void cut_in_eight(const LawCase& law) {
  const auto cuts = cuts_in_eight(layers_of(law));
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "ends " << testing::PrintToString(cuts[i]));
    expect_right(law, cut_at(cuts[i]), i);
  }
}

void random_placements(const LawCase& law, int seeds) {
  for_each_seed(law, seeds, [&](std::uint64_t seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    expect_right(law, random_laps(layers_of(law), law.devices, random), seed);
  });
}

// Every tap of every layer, not only what comes out at the end.
void every_tap_is_equal(LawCase law) {
  const std::vector<TokenId> tokens = law_prompt(law.model, 0, kTokens);
  const auto all = [](const std::string&) { return true; };
  TraceStore right(all), cut_up(all);
  ModelRig(law.model, {.table = law.table}).logits(tokens, kChunks, &right);
  law.devices = 3;
  Spread spread(law, kLimits, 7);
  spread->logits(tokens, kChunks, &cut_up);
  const auto expected = right.joined(), got = cut_up.joined();
  EXPECT_GT(expected.size(), 100u);
  ASSERT_EQ(got.size(), expected.size());
  for (const auto& [key, tensor] : expected) {
    ASSERT_TRUE(got.contains(key)) << key;
    EXPECT_EQ(got.at(key).rows, tensor.rows) << key;
    EXPECT_EQ(got.at(key).bytes == tensor.bytes, true) << key;
  }
}

class Cutting : public testing::TestWithParam<LawCase> {};
TEST_P(Cutting, OneCutGivesTheBitsOfOneDevice) { every_single_cut(GetParam()); }
TEST_P(Cutting, EveryTapIsThatOfOneDevice) { every_tap_is_equal(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Quick, Cutting, testing::Values(paging_case()), law_name);

class CuttingOverDevices : public testing::TestWithParam<LawCase> {};
TEST_P(CuttingOverDevices, AnyPlacementGivesTheBitsOfOneDevice) { random_placements(GetParam(), 1); }
INSTANTIATE_TEST_SUITE_P(Quick, CuttingOverDevices, testing::ValuesIn(quick_spread_cases()), law_name);

class CuttingSlow : public testing::TestWithParam<LawCase> {};
TEST_P(CuttingSlow, OneCutGivesTheBitsOfOneDevice) { every_single_cut(GetParam()); }
TEST_P(CuttingSlow, EveryTapIsThatOfOneDevice) { every_tap_is_equal(GetParam()); }
// The one for eight layers, 36 for ten, 330 for twelve.
TEST_P(CuttingSlow, EightDevicesInARowGiveTheBitsOfOne) { cut_in_eight(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Everywhere, CuttingSlow, testing::ValuesIn(mostly_fast(law_cases())), law_name);

class CuttingOverDevicesSlow : public testing::TestWithParam<LawCase> {};
TEST_P(CuttingOverDevicesSlow, AnyPlacementGivesTheBitsOfOneDevice) { random_placements(GetParam(), 3); }
INSTANTIATE_TEST_SUITE_P(Everywhere, CuttingOverDevicesSlow, testing::ValuesIn(spread_cases()), law_name);

}  // namespace
}  // namespace manyspan::test
