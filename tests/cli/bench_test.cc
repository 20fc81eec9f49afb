#include <nlohmann/json.hpp>
#include <sstream>

#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace manyspan::tests {
namespace {

TEST(BenchSlow, TellsEachMeasurementBesideTheRoof) {
  const Ran ran = run({"bench", "--quick", "--repetitions", "1", "--threads", "2", "--batch", "1,3"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  std::istringstream lines(ran.out);
  std::vector<std::string> kinds;
  std::vector<int> batches;
  for (std::string line; std::getline(lines, line);) {
    const auto measured = nlohmann::json::parse(line);
    kinds.push_back(measured["bench"]);
    batches.push_back(measured["batch"]);
    EXPECT_EQ(measured["threads"], 2);
    EXPECT_NE(measured["table"], "");
    EXPECT_GT(measured["least_bytes_per_token"], 0);
    EXPECT_GT(measured["read_roof_gb_per_second"], 0);
    EXPECT_GT(measured["share_of_read_roof"], 0);
    if (kinds.back() != "first_token") {
      EXPECT_GT(measured["tokens_per_second"], 0);
    }
  }
  EXPECT_EQ(kinds, (std::vector<std::string>{"prefill", "first_token", "decode", "decode"}));
  EXPECT_EQ(batches, (std::vector<int>{1, 1, 1, 3}));
}

TEST(Bench, RefusesBatchesThatAreNoNumbersInOneLine) {
  for (const std::string wrong : {"0", "1,", "8x", "257", ""}) {
    const Ran ran = run({"bench", "--quick", "--batch", wrong});
    EXPECT_EQ(ran.status, 2) << wrong;
    EXPECT_NE(ran.err.find("--batch"), std::string::npos) << ran.err;
  }
}

}  // namespace
}  // namespace manyspan::tests
