// The law of cutting: however the layers are spread over devices, the bits are those of one device.
#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "model/trace_store.h"
#include "tests/support/law.h"
#include "tests/support/model_rig.h"

namespace manyspan::test {
namespace {

Placement cut(std::vector<std::int32_t> ends, std::int32_t layers) {
  return placement_of_layer_ends(ends, layers, static_cast<std::int32_t>(ends.size())).value();
}

// Layers dealt out to `stages` devices in random runs, so that most devices are come back to.
Placement random_laps(std::int32_t layers, std::int32_t stages, std::mt19937& random) {
  std::vector<std::int32_t> owner;
  for (std::int32_t s = 0; s < stages; ++s) owner.push_back(s);  // nobody goes without
  while (static_cast<std::int32_t>(owner.size()) < layers) {
    owner.push_back(random() % 3 == 0 ? static_cast<std::int32_t>(random() % stages) : owner.back());
  }
  std::shuffle(owner.begin(), owner.begin() + stages, random);
  Placement p;
  for (std::int32_t s = 0; s < stages; ++s) {
    StageLayers mine;
    for (std::int32_t l = 0; l < layers; ++l) {
      if (owner[l] != s) continue;
      if (!mine.ranges.empty() && mine.ranges.back().end == l) {
        ++mine.ranges.back().end;
      } else {
        mine.ranges.push_back({l, l + 1});
      }
    }
    p.stages.push_back({s, mine});
  }
  return p;
}

// A prompt in chunks, and decoding, on simulated devices under one seed.
std::vector<float> on_devices(const LawCase& law, const Placement& placement, std::uint64_t seed,
                              std::span<const TokenId> tokens, const std::vector<std::int64_t>& chunks) {
  auto world = SimWorld::create({.devices = static_cast<int>(placement.stages.size()), .seed = seed}).value();
  std::vector<float> logits;
  {
    ModelRig rig(law.model, {.table = law.table,
                             .limits = {.step_rows = 40, .sampled_rows = 40, .sessions = 2, .context = 512},
                             .placement = placement,
                             .world = world.get()});
    logits = rig.logits(tokens, chunks);
  }
  EXPECT_EQ(world->live_buffers(), 0) << "seed " << seed;
  return logits;
}

struct Whole {
  std::vector<TokenId> tokens;
  std::vector<float> logits;
  std::int32_t layers;
};

Whole whole(const LawCase& law) {
  Whole w{law_prompt(law.model, 0), {}, checkpoint(law.model).blueprint.layers};
  w.tokens.resize(std::min<std::size_t>(w.tokens.size(), 70));
  w.logits = ModelRig(law.model, {.table = law.table}).logits(w.tokens);
  return w;
}

const std::vector<std::int64_t> kChunks = {33, 1, 20};  // then token by token

void every_single_cut(const LawCase& law) {
  const Whole w = whole(law);
  for (std::int32_t at = 1; at < w.layers; ++at) {
    EXPECT_EQ(
        first_difference(w.logits, on_devices(law, cut({at, w.layers}, w.layers), at, w.tokens, kChunks)), -1)
        << "cut at " << at << ", seed " << at;
  }
}

void random_placements(const LawCase& law, std::int32_t stages, std::uint64_t first_seed, int count) {
  const Whole w = whole(law);
  if (w.layers < stages) GTEST_SKIP() << "fewer layers than devices";
  for (std::uint64_t seed = first_seed; seed < first_seed + count; ++seed) {
    std::mt19937 random(seed);
    const Placement p = random_laps(w.layers, stages, random);
    EXPECT_EQ(first_difference(w.logits, on_devices(law, p, seed, w.tokens, kChunks)), -1)
        << stages << " devices, seed " << seed;
  }
}

// Every tap of every layer, not only what comes out at the end.
void every_tap_is_equal(const LawCase& law) {
  const Whole w = whole(law);
  const auto all = [](const std::string&) { return true; };
  TraceStore right(all), cut_up(all);
  ModelRig(law.model, {.table = law.table}).logits(w.tokens, kChunks, &right);
  auto world = SimWorld::create({.devices = 3, .seed = 7}).value();
  std::mt19937 random(7);
  ModelRig rig(law.model, {.table = law.table,
                           .limits = {.step_rows = 40, .sampled_rows = 40, .sessions = 1, .context = 512},
                           .placement = random_laps(w.layers, 3, random),
                           .world = world.get()});
  rig.logits(w.tokens, kChunks, &cut_up);
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
TEST_P(Cutting, TwoLapsOverThreeDevicesGiveTheBitsOfOneDevice) { random_placements(GetParam(), 3, 100, 2); }
INSTANTIATE_TEST_SUITE_P(Quick, Cutting, testing::ValuesIn(quick_law_cases()), law_name);

class CuttingSlow : public testing::TestWithParam<LawCase> {};
TEST_P(CuttingSlow, OneCutGivesTheBitsOfOneDevice) { every_single_cut(GetParam()); }
TEST_P(CuttingSlow, TwoDevicesGiveTheBitsOfOne) { random_placements(GetParam(), 2, 200, 4); }
TEST_P(CuttingSlow, ThreeDevicesGiveTheBitsOfOne) { random_placements(GetParam(), 3, 300, 4); }
TEST_P(CuttingSlow, FiveDevicesGiveTheBitsOfOne) { random_placements(GetParam(), 5, 400, 4); }
TEST_P(CuttingSlow, EightDevicesGiveTheBitsOfOne) { random_placements(GetParam(), 8, 500, 4); }
INSTANTIATE_TEST_SUITE_P(Everywhere, CuttingSlow, testing::ValuesIn(law_cases()), law_name);

}  // namespace
}  // namespace manyspan::test
