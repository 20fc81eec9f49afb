#include "prepared/footprint.h"

#include <fstream>

#include <gtest/gtest.h>

namespace manyspan {
namespace {

Blueprint release() {
  std::ifstream file(MANYSPAN_SOURCE_DIR "/tests/data/configs/release.json");
  return read_blueprint(std::string(std::istreambuf_iterator<char>(file), {})).value();
}

// The checkpoint's published size is 510.3 GB; 12.4 GB of it are the draft model and vision.
TEST(Footprint, TheReleasedModelHasItsPublishedSize) {
  const Footprint f = footprint(release(), Tiling::plain);
  const auto held = static_cast<double>(f.of(all_layers(40)).held);
  EXPECT_NEAR(static_cast<double>(f.engram_tables), 768'022'850.0 * 264, 1);
  EXPECT_NEAR(held + static_cast<double>(f.engram_tables), 510.3e9, 15e9);
}

// performance.md: 13.04 GB a token, the head's 1.324 GB with them.
TEST(Footprint, ATokenReadsWhatThePaperSays) {
  const Footprint f = footprint(release(), Tiling::plain);
  EXPECT_NEAR(static_cast<double>(f.of(all_layers(40)).read), 13.04e9, 0.02e9);
  EXPECT_NEAR(static_cast<double>(f.last.read), 1.324e9, 0.001e9);
  EXPECT_EQ(f.first.read, 2 * 5120);
  // A layer of 384 experts, of which a token reads 6.
  const double others = (5.070e9 + 1.417e9 + 0.157e9 + 0.157e9) / 40;
  EXPECT_NEAR(static_cast<double>(f.layers[5].read), others + 4.512e9 / 40, 1e6);
  EXPECT_NEAR(static_cast<double>(f.layers[5].held), others + 4.512e9 / 40 * 64, 1e7);
  // Engram's projection is with its layer.
  EXPECT_NEAR(static_cast<double>(f.layers[1].read - f.layers[0].read), 0.1575e9, 1e6);
}

TEST(Footprint, StagesHoldTogetherWhatTheWholeHolds) {
  const Footprint f = footprint(release(), Tiling::cpu16x32);
  const StageLayers low{{{0, 7}, {30, 40}}}, high{{{7, 30}}};
  EXPECT_EQ(f.of(low).held + f.of(high).held, f.of(all_layers(40)).held + f.each.held);
  EXPECT_EQ(f.of(low).read + f.of(high).read, f.of(all_layers(40)).read);
}

TEST(Footprint, EncodingsAreThoseThatTheConfigurationImplies) {
  const Blueprint b = release();
  Quantization wide = b.quantization;
  wide.method = "none";
  wide.expert_dtype = Quantization::ExpertDtype::unsaid;
  for (const Slot& slot : slots_of(b)) {
    const Encoding implied = implied_encoding(slot, b.quantization);
    EXPECT_TRUE(slot.allowed.has(implied)) << name(slot.role);
    EXPECT_TRUE(slot.allowed.has(implied_encoding(slot, wide))) << name(slot.role);
    if (slot.role == Role::wq_a || slot.role == Role::wo_a || slot.role == Role::engram_kv) {
      EXPECT_EQ(implied, Encoding::fp8_block32);
      EXPECT_EQ(implied_encoding(slot, wide), Encoding::bf16);
    }
    if (slot.role == Role::expert_w2) {
      EXPECT_EQ(implied, Encoding::mxfp4);
    }
    if (slot.role == Role::head || slot.role == Role::gate) {
      EXPECT_EQ(implied, Encoding::bf16);
    }
    if (slot.role == Role::expert_mix_fn) {
      EXPECT_EQ(implied, Encoding::f32);
    }
  }
}

}  // namespace
}  // namespace manyspan
