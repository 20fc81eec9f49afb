// Every subcommand that takes a MODEL takes a GGUF, and gives what the same model's safetensors give.
#include <filesystem>

#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "engine/gguf_trial.h"
#include "tests/cli/program.h"

namespace manyspan::tests {
namespace {

const std::string kBundled = MANYSPAN_SOURCE_DIR "/models/first-light";
const std::string kHostile = MANYSPAN_SOURCE_DIR "/tests/data/hostile/";

class CliGguf : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    const auto bundled = Checkpoint::open(kBundled).value();
    whole_ = write_as_gguf(kBundled, *bundled, *folder_ / "whole", false);
    split_ = write_as_gguf(kBundled, *bundled, *folder_ / "split", true, 3);
  }
  static void TearDownTestSuite() { delete folder_; }

  // What the program writes for a command line whose MODEL is each of the three, which must be the same.
  static void expect_same(std::vector<std::string> arguments, const std::string& input = "") {
    std::string expected;
    for (const std::string& model : {kBundled, whole_, split_}) {
      std::vector<std::string> all = arguments;
      all.insert(all.begin() + 1, model);
      const Ran outcome = run(all, input);
      ASSERT_EQ(outcome.status, 0) << model << ": " << outcome.err;
      if (model == kBundled) expected = outcome.out;
      EXPECT_EQ(outcome.out, expected) << model;
    }
    EXPECT_FALSE(expected.empty());
  }

  static inline TemporaryFolder* folder_ = nullptr;
  static inline std::string whole_, split_;
};

TEST_F(CliGguf, TextAndTokens) {
  expect_same({"tokenize"}, "In the beginning there were 42.");
  expect_same({"detokenize"}, "5 17 300");
  expect_same({"run", "-p", "What is the capital of France?", "--temperature", "0", "--max-tokens", "12",
               "--quiet", "--thinking", "off"});
  expect_same({"run", "--raw", "-p", "In the beginning", "--temperature", "0", "--max-tokens", "12",
               "--quiet", "--device", "sim:3"});
}

TEST_F(CliGguf, InspectShowsFamilyPartsAndWhatIsOff) {
  const Ran whole = run({"inspect", whole_}), split = run({"inspect", split_});
  EXPECT_EQ(whole.status, 0) << whole.err;
  EXPECT_NE(whole.out.find("family: keys by llama.cpp's names\n"), whole.out.npos);
  EXPECT_NE(split.out.find("family: keys by config.json's names\n"), split.out.npos) << split.err;
  EXPECT_NE(split.out.find("-00003-of-00003.gguf\n"), split.out.npos);
  for (const char* off : {"off: draft: not in the checkpoint\n", "off: vision: not in the checkpoint\n"})
    EXPECT_NE(split.out.find(off), split.out.npos) << off;
}

TEST_F(CliGguf, PlanReadsTheKeys) {
  const Ran plan = run({"plan", whole_});
  EXPECT_EQ(plan.status, 0) << plan.err;
  EXPECT_NE(plan.out.find("encodings as stored"), plan.out.npos) << plan.out;
}

TEST_F(CliGguf, BadKeysAreNamedWithTheFile) {
  const std::pair<const char*, const char*> kCases[] = {
      {"gg_no_architecture", "general.architecture"},    {"gg_architecture_u32", "general.architecture"},
      {"gg_architecture_llama", "general.architecture"}, {"gg_engram_prime_zero", "engram.primes"},
      {"gg_engram_short_primes", "engram.primes"},       {"gg_engram_map_negative", "engram.token_map"},
      {"gg_engram_layer_range", "engram.layer_ids"},     {"gg_engram_offset_gap", "engram.offsets"},
  };
  for (const auto& [name, key] : kCases) {
    const std::string path = kHostile + name + ".gguf";
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"inspect", path}, {"run", path, "-p", "x"}, {"tokenize", path}}) {
      const Ran outcome = run(command);
      EXPECT_EQ(outcome.status, 3) << path;
      EXPECT_NE(outcome.err.find(path + ": "), outcome.err.npos) << outcome.err;
      EXPECT_NE(outcome.err.find(key), outcome.err.npos) << outcome.err;
    }
  }
}

// A file that is sound but says too little to be a model can be looked at, and not run.
TEST_F(CliGguf, ASoundFileWithoutAModelIsShown) {
  for (const char* name : {"ok_no_tensors", "ok_every_value_type", "ok_engram_mini", "ok_version_2"}) {
    const std::string path = kHostile + name + ".gguf";
    const Ran shown = run({"inspect", path});
    EXPECT_EQ(shown.status, 0) << shown.err;
    EXPECT_NE(shown.out.find("keys: no whole model: " + path), shown.out.npos) << shown.out;
    EXPECT_EQ(run({"run", path, "-p", "x"}).status, 3);
  }
}

}  // namespace
}  // namespace manyspan::tests
