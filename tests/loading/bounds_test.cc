// What loading takes: memory within its bound, and a person is told how far it has come.
#include <cstdlib>
#include <cstring>
#include <regex>

#include <gtest/gtest.h>

#include "tests/loading/loader.h"
#include "tests/loading/sparse.h"

namespace manyspan::tests {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
// The program, its libraries, and the state of a context of 256 tokens.
constexpr std::int64_t kBeside = 64 * kMiB;

#if defined(MANYSPAN_SANITIZED)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
constexpr const char* kMemoryOfTheirOwn = "sanitizers take memory of their own";

std::vector<std::string> one_token(const Sparse& model, const std::string& device) {
  return {"run",       model.path, "--ids",      "1",  "--max-tokens", "1",        "--context", "256",
          "--threads", "2",        "--progress", "on", "--stats",      "--device", device};
}

// The weights where they stay, and at most a layer beside them while they are put there, and a tenth.
std::int64_t bound_of(const Sparse& model) {
  return (model.loaded_bytes + model.largest_layer_bytes) / 10 * 11 + kBeside;
}

void expect_in_bounds(const Sparse& model, const std::string& device) {
  const std::int64_t bound = bound_of(model);
  // Tables that were copied or read whole would not fit in either.
  ASSERT_LT(bound, model.engram_bytes);
  const Loaded ran = load({.arguments = one_token(model, device), .most_private_bytes = bound});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, "0\n");
  EXPECT_LE(ran.peak_bytes, bound) << ran.err;
  // The weights are there, so what was measured is the program's memory.
  EXPECT_GT(ran.peak_bytes, model.loaded_bytes);
  std::cout << device << ": peak " << ran.peak_bytes << " bytes, bound " << bound << ", loaded "
            << model.loaded_bytes << ", Engram " << model.engram_bytes << "\n"
            << ran.err.substr(ran.err.rfind('\r') + 1);
  const std::regex line("loading [0-9.]+ [MG]iB of [0-9.]+ [MG]iB, [0-9.]+ [KMG]iB/s, [0-9]+ s left");
  EXPECT_TRUE(std::regex_search(ran.err, line)) << ran.err;
}

TEST(LoadingBounds, PeakMemoryIsTheWeightsAndALayer) {
  if (kSanitized) GTEST_SKIP() << kMemoryOfTheirOwn;
  expect_in_bounds(narrow_checkpoint(), "cpu");
}

// Beside the device's memory there are staging buffers, but never a second copy of the model.
TEST(LoadingBounds, SoItIsOnADeviceWithMemoryOfItsOwn) {
  if (kSanitized) GTEST_SKIP() << kMemoryOfTheirOwn;
  expect_in_bounds(narrow_checkpoint(), "sim:2");
}

TEST(LoadingBoundsSlow, TwentyGigabytes) {
  if (kSanitized) GTEST_SKIP() << kMemoryOfTheirOwn;
  const char* const large = std::getenv("MANYSPAN_LARGE");
  if (large == nullptr || std::strcmp(large, "1") != 0)
    GTEST_SKIP() << "MANYSPAN_LARGE=1 loads 20 GB, of which 6 GB stay in memory";
  expect_in_bounds(wide_checkpoint(), "cpu");
}

TEST(LoadingBounds, TooLittleMemoryIsSaidInOneLine) {
  if (kSanitized) GTEST_SKIP() << kMemoryOfTheirOwn;
  const Sparse model = narrow_checkpoint();
  const Loaded ran = load({.arguments = {"run", model.path, "--ids", "1", "--context", "256"},
                           .most_private_bytes = model.loaded_bytes / 2});
  EXPECT_EQ(ran.status, 1) << ran.err;
  EXPECT_TRUE(std::regex_match(ran.err, std::regex("manyspan: .*memory.*\n"))) << ran.err;
}

}  // namespace
}  // namespace manyspan::tests
