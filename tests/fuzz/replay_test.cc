// Every seed and every case that a fuzzer once found, through the same targets in ordinary builds.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/fuzz/target.h"

namespace manyspan::fuzz {
namespace {

namespace fs = std::filesystem;

const fs::path kData = MANYSPAN_SOURCE_DIR "/tests/data/fuzz";

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  if (!fs::exists(folder)) return files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string bytes_of_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

class Replay : public testing::TestWithParam<Target> {
 protected:
  // How many of them were accepted.
  int run_all(const std::vector<fs::path>& files) {
    int accepted = 0;
    for (const fs::path& file : files) {
      const Outcome outcome = GetParam().run(bytes_of_file(file));
      EXPECT_EQ(outcome.broken, "") << file;
      accepted += outcome.accepted ? 1 : 0;
    }
    return accepted;
  }
};

// Were none accepted, no property beyond those of a refusal would have been looked at.
TEST_P(Replay, SeedsKeepTheirPropertiesAndSomeAreAccepted) {
  const std::vector<fs::path> files = files_in(kData / GetParam().name);
  EXPECT_GE(files.size(), 5u);
  EXPECT_GE(run_all(files), 1);
}

TEST_P(Replay, FoundCasesKeepTheirProperties) { run_all(files_in(kData / "found" / GetParam().name)); }

TEST_P(Replay, NoBytesAndPlainNoiseAreSeenToo) {
  EXPECT_EQ(GetParam().run("").broken, "");
  std::string noise;
  std::uint64_t state = 1;
  for (int i = 0; i < 4096; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    noise += static_cast<char>(state >> 56);
    if (i % 64 == 0) {
      EXPECT_EQ(GetParam().run(noise).broken, "");
    }
  }
}

// A folder whose target has gone would never be looked at.
TEST(Seeds, EveryFolderBelongsToATarget) {
  for (const fs::path& folder : {kData, kData / "found"}) {
    if (!fs::exists(folder)) continue;
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename();
      if (!entry.is_directory() || name == "found") continue;
      const auto known = [&](const Target& target) { return target.name == name; };
      EXPECT_TRUE(std::ranges::any_of(targets(), known)) << entry.path();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Replay, testing::ValuesIn(targets().begin(), targets().end()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace manyspan::fuzz
