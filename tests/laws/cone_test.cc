// The law of the cone: a prompt whose early tokens run only up to the last KV source leaves the very state, and gives
// the very logits, of one that runs through all layers.
#include <fstream>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/law.h"
#include "tests/support/model_rig.h"

namespace manyspan::test {
namespace {

const SnapshotOrigin kOrigin{.model = 1, .weights = 2, .numerics = "of the law"};

struct Side {
  std::unique_ptr<SimWorld> world;
  std::unique_ptr<ModelRig> rig;
  SessionId session{0};

  Side(const LawCase& law, std::int32_t devices, std::uint64_t seed) {
    const std::int32_t layers = checkpoint(law.model).blueprint.layers;
    std::vector<std::int32_t> ends;
    for (std::int32_t d = 1; d <= devices; ++d) ends.push_back(layers * d / devices);
    if (devices > 1) world = SimWorld::create({.devices = devices, .seed = seed}).value();
    rig = std::make_unique<ModelRig>(
        law.model, RigOptions{.table = law.table,
                              .limits = {.step_rows = 40,
                                         .sampled_rows = 40,
                                         .sessions = 2,
                                         .context = 1024,
                                         .spare_window = 5},
                              .placement = placement_of_layer_ends(ends, layers, devices).value(),
                              .world = world.get()});
    session = rig->sessions().open().value();
  }

  // Tokens of the session up to `to`, in random pieces; logits of those that want them.
  std::vector<float> run(std::span<const TokenId> tokens, std::size_t to, Depth depth, Sessions::Want want,
                         std::mt19937& random) {
    std::vector<float> logits;
    for (std::size_t at = rig->sessions().timeline(session).length(); at < to;) {
      const std::size_t count = std::min<std::size_t>(to - at, 1 + random() % 40);
      const Sessions::Piece piece{session, tokens.subspan(at, count), want, {}};
      EXPECT_TRUE(rig->sessions().begin({&piece, 1}, true, nullptr, depth).ok());
      const auto rows = rig->sessions().end().value().logits;
      if (want != Sessions::Want::nothing)
        logits.insert(logits.end(), rows.data, rows.data + rows.rows * rows.cols);
      at += count;
    }
    return logits;
  }

  std::string saved() {
    const std::string path = testing::TempDir() + "manyspan_cone_session";
    EXPECT_TRUE(rig->sessions().snapshot(session, kOrigin, path).ok());
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

std::vector<TokenId> long_prompt(const LawCase& law, std::size_t length) {
  std::vector<TokenId> tokens;
  for (std::size_t variant = 0; tokens.size() < length; ++variant) {
    const std::vector<TokenId> more = law_prompt(law.model, variant);
    tokens.insert(tokens.end(), more.begin(), more.end());
  }
  tokens.resize(length);
  return tokens;
}

void on_is_as_off(const LawCase& law, std::int32_t devices, std::uint64_t seed) {
  std::mt19937 random(seed);
  Side on(law, devices, seed), off(law, 1, seed);
  // Long enough that some tokens are before the cone, and again so for what follows.
  std::size_t first = 1;
  while (on.rig->sessions().cone(static_cast<std::int64_t>(first)) < 20) ++first;
  const std::size_t second = 2 * first, end = second + 12;
  const std::vector<TokenId> tokens = long_prompt(law, end);
  for (const std::size_t length : {first, second}) {
    const auto cone = static_cast<std::size_t>(on.rig->sessions().cone(static_cast<std::int64_t>(length)));
    ASSERT_GT(cone, 0u);
    on.run(tokens, std::min(cone, length), Depth::rows, Sessions::Want::nothing, random);
    EXPECT_FALSE(on.rig->sessions().is_whole(on.session));
    on.run(tokens, length - 1, Depth::all, Sessions::Want::nothing, random);
    off.run(tokens, length - 1, Depth::all, Sessions::Want::nothing, random);
    const auto last = on.run(tokens, length, Depth::all, Sessions::Want::all, random);
    EXPECT_EQ(first_difference(off.run(tokens, length, Depth::all, Sessions::Want::all, random), last), -1)
        << "the prompt's last token, seed " << seed;
    EXPECT_TRUE(on.rig->sessions().is_whole(on.session));
    EXPECT_EQ(on.saved() == off.saved(), true) << "what is kept of " << length << " tokens, seed " << seed;
  }
  EXPECT_EQ(first_difference(off.run(tokens, end, Depth::all, Sessions::Want::all, random),
                             on.run(tokens, end, Depth::all, Sessions::Want::all, random)),
            -1)
      << "what follows, seed " << seed;
  // Taking back what is kept spare runs nothing again, and taking back more is right too.
  EXPECT_EQ(on.rig->sessions().rerun_for(on.session, static_cast<std::int64_t>(end) - 3), 0);
  for (const std::size_t back : {end - 3, first}) {
    ASSERT_TRUE(on.rig->sessions().truncate(on.session, static_cast<std::int64_t>(back)).ok());
    ASSERT_TRUE(off.rig->sessions().truncate(off.session, static_cast<std::int64_t>(back)).ok());
    EXPECT_EQ(on.saved() == off.saved(), true) << "shortened to " << back << ", seed " << seed;
  }
}

// A prompt that is broken off between the depths is made whole by a replay: when asked for, and before it is saved.
void broken_off_is_mended(const LawCase& law, std::uint64_t seed, bool by_saving) {
  std::mt19937 random(seed);
  Side on(law, 1, seed), off(law, 1, seed);
  const std::vector<TokenId> tokens = long_prompt(law, 160);
  on.run(tokens, 70, Depth::rows, Sessions::Want::nothing, random);
  on.run(tokens, 75, Depth::all, Sessions::Want::nothing, random);
  EXPECT_FALSE(on.rig->sessions().is_whole(on.session));
  off.run(tokens, 75, Depth::all, Sessions::Want::nothing, random);
  if (by_saving) {
    EXPECT_EQ(on.saved() == off.saved(), true);
  } else {
    ASSERT_TRUE(on.rig->sessions().truncate(on.session, 75).ok());
  }
  EXPECT_TRUE(on.rig->sessions().is_whole(on.session));
  EXPECT_EQ(first_difference(off.run(tokens, 90, Depth::all, Sessions::Want::all, random),
                             on.run(tokens, 90, Depth::all, Sessions::Want::all, random)),
            -1);
}

class Cone : public testing::TestWithParam<LawCase> {};
TEST_P(Cone, OnIsAsOff) { on_is_as_off(GetParam(), 2, 1); }
TEST_P(Cone, APromptThatIsBrokenOffIsMended) {
  broken_off_is_mended(GetParam(), 2, false);
  broken_off_is_mended(GetParam(), 3, true);
}
INSTANTIATE_TEST_SUITE_P(Quick, Cone, testing::ValuesIn(mostly_fast(quick_law_cases())), law_name);

class ConeSlow : public testing::TestWithParam<LawCase> {};
TEST_P(ConeSlow, OnIsAsOff) {
  for (const std::int32_t devices : {1, 3, 8}) on_is_as_off(GetParam(), devices, 10 + devices);
}
INSTANTIATE_TEST_SUITE_P(Everywhere, ConeSlow, testing::ValuesIn(mostly_fast(law_cases())), law_name);

}  // namespace
}  // namespace manyspan::test
