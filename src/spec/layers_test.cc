#include "spec/layers.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "spec/slots.h"

namespace manyspan {
namespace {

Blueprint release() {
  std::ifstream in(MANYSPAN_SOURCE_DIR "/tests/data/configs/release.json");
  std::stringstream text;
  text << in.rdbuf();
  return read_blueprint(text.str()).value();
}

TEST(Layers, OfTheReleaseFollowTheSpecifiedTable) {
  const std::vector<std::string> expected{"layer 0: window only",
                                          "layer 1: window only, Engram before it",
                                          "layer 2: ratio 2, own rows, own selection",
                                          "layers 3-7: ratio 2, rows of 2, selection of 2",
                                          "layer 8: ratio 2, own rows, own selection",
                                          "layers 9-13: ratio 2, rows of 8, selection of 8",
                                          "layer 14: ratio 2, own rows, own selection, Engram before it",
                                          "layers 15-19: ratio 2, rows of 14, selection of 14",
                                          "layer 20: ratio 1, own rows, own selection, writes candidates",
                                          "layers 21-23: ratio 1, rows of 20, selection of 20",
                                          "layer 24: ratio 1, rows of 20, own selection, reads candidates",
                                          "layers 25-27: ratio 1, rows of 20, selection of 24",
                                          "layer 28: ratio 1, rows of 20, own selection, reads candidates",
                                          "layers 29-31: ratio 1, rows of 20, selection of 28",
                                          "layer 32: ratio 1, rows of 20, own selection, reads candidates",
                                          "layers 33-35: ratio 1, rows of 20, selection of 32",
                                          "layer 36: ratio 1, rows of 20, own selection, reads candidates",
                                          "layers 37-39: ratio 1, rows of 20, selection of 36, draft target"};
  EXPECT_EQ(describe(schedule_of(release())), expected);
}

TEST(Layers, PlacesAreCountedInTheirLists) {
  const Schedule schedule = schedule_of(release());
  EXPECT_EQ(schedule.layers[14].engram, 1);
  EXPECT_EQ(schedule.layers[38].draft_target, 1);
  EXPECT_EQ(schedule.layers[0].kv_source.value, -1);
}

TEST(Slots, OfTheReleaseCountItsTextTensors) {
  // Tensors of the checkpoint's text part: 96,085 less draft (3 x 128 x 6 + 97) and vision (266).
  std::int64_t tensors = 0;
  for (const Slot& s : slots_of(release())) {
    const bool scaled =
        s.kind == SlotKind::quantised_linear || s.role == Role::wo_a || s.role == Role::engram_table;
    tensors += std::int64_t{s.matrices} * (scaled ? 2 : 1);
  }
  EXPECT_EQ(tensors, 96085 - (3 * 128 * 6 + 97) - 266);
}

TEST(Slots, SayWhoseInputIsRounded) {
  const auto slots = slots_of(release());
  const auto slot = [&](Role role) {
    return *std::find_if(slots.begin(), slots.end(), [&](const Slot& s) { return s.role == role; });
  };
  for (const Role r : {Role::wo_a, Role::head, Role::compress_kv, Role::gate, Role::index_head_weights}) {
    EXPECT_EQ(slot(r).kind, SlotKind::plain_linear) << name(r);
  }
  for (const Role r :
       {Role::wq_a, Role::wo_b, Role::index_q, Role::shared_w1, Role::expert_w2, Role::engram_kv}) {
    EXPECT_EQ(slot(r).kind, SlotKind::quantised_linear) << name(r);
  }
  EXPECT_FALSE(slot(Role::attention_mix_fn).allowed.has(Encoding::bf16));
}

}  // namespace
}  // namespace manyspan
