// The law of containers: however a model's numbers are stored, as long as none is rounded, the bits are the same.
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "tests/support/container_copies.h"
#include "tests/support/spread.h"

namespace manyspan::test {
namespace {

// A prompt in chunks, then token by token. The reference is some forty times as slow.
struct Length {
  std::int64_t tokens;
  std::vector<std::int64_t> chunks;
};

Length length_in(const kernels::Table* table) {
  return table == &kernels::kReference ? Length{8, {5, 1}} : Length{40, {24, 1, 7}};
}

class Containers : public testing::TestWithParam<LawCase> {
 protected:
  // On the host, and over three simulated devices where the model has as many layers.
  static void expect_same_bits(const ContainerCopy& copy) {
    SCOPED_TRACE(copy.what);
    const LawCase& law = GetParam();
    const auto [count, chunks] = length_in(law.table);
    const Limits limits{.step_rows = 40, .sampled_rows = 40, .sessions = 2, .context = 256};
    ModelRig rig(copy.path, {.table = law.table, .limits = limits});
    for (const std::size_t prompt : {0, 1}) {
      const std::vector<TokenId> tokens = law_prompt(law.model, prompt, count);
      EXPECT_EQ(first_difference(right_logits(law, prompt, count), rig.logits(tokens, chunks)), -1);
    }
    LawCase spread = law;
    spread.model = copy.path;
    spread.devices = 3;
    Spread over_three(spread, limits, 7);
    EXPECT_EQ(first_difference(right_logits(law, 2, count),
                               over_three->logits(law_prompt(law.model, 2, count), chunks)),
              -1);
  }
};

TEST_P(Containers, SafetensorsOfEverySpellingGiveTheSameBits) {
  const TemporaryFolder folder;
  for (const ContainerCopy& copy : safetensors_copies(GetParam().model, folder.path()))
    expect_same_bits(copy);
}

TEST_P(Containers, LosslessGgufGivesTheSameBits) {
  const TemporaryFolder folder;
  for (const ContainerCopy& copy : gguf_copies(GetParam().model, folder.path())) expect_same_bits(copy);
}

TEST_P(Containers, ConversionsGiveTheSameBits) {
  const TemporaryFolder folder;
  for (const ContainerCopy& copy : converted_copies(GetParam().model, folder.path())) expect_same_bits(copy);
}

INSTANTIATE_TEST_SUITE_P(Laws, Containers, testing::ValuesIn(law_cases()), law_name);

}  // namespace
}  // namespace manyspan::test
