// Ctrl-C while a checkpoint loads: the program ends soon, with its status, and leaves nothing behind.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <set>

#include <gtest/gtest.h>

#include "tests/loading/loader.h"
#include "tests/loading/sparse.h"

namespace manyspan::tests {
namespace {

constexpr double kSoon = 2;  // seconds; on a machine with other work

std::set<std::string> everything_in(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) names.insert(entry.path());
  return names;
}

void expect_clean_end(const Sparse& model, const std::string& when, const std::string& device) {
  const std::set<std::string> before = everything_in(model.folder / "");
  const Loaded ran = load({.arguments = {"run", model.path, "--ids", "1", "--max-tokens", "1", "--context",
                                         "256", "--progress", "on", "--device", device},
                           .when = when,
                           .then = [](pid_t program) { kill(program, SIGINT); }});
  ASSERT_TRUE(ran.seconds_after_then) << "never came to \"" << when << "\": " << ran.err;
  EXPECT_EQ(ran.status, 130) << ran.err;
  EXPECT_LT(*ran.seconds_after_then, kSoon);
  EXPECT_EQ(ran.out, "");
  // The line of progress, and nothing after it.
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  EXPECT_TRUE(ran.err.ends_with("left\n") || ran.err.ends_with("GiB\n")) << ran.err;
  // It was still loading, far from its end.
  EXPECT_LT(ran.peak_bytes, model.loaded_bytes / 2);
  EXPECT_EQ(everything_in(model.folder / ""), before);
}

TEST(LoadingInterrupt, AtOnceAndOnTheWay) {
  const Sparse model = wide_checkpoint();
  expect_clean_end(model, "loading", "cpu");
  expect_clean_end(model, " left", "sim:2");
  expect_clean_end(model, " left", "cpu");
}

}  // namespace
}  // namespace manyspan::tests
