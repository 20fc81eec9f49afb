#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
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

TEST(Bench, MeasuresThePromptsThatAreNamedCutAsAskedFor) {
  const Ran ran = run({"bench", "--quick", "--repetitions", "1", "--batch", "1", "--prompts", "7,30",
                       "--step-rows", "4", "--no-cone"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_NE(ran.out.find(R"("bench":"prefill","tokens":7)"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find(R"("bench":"prefill","tokens":30)"), std::string::npos) << ran.out;
  for (const std::string wrong : {"0", "1,", "ten"}) {
    const Ran refused = run({"bench", "--quick", "--prompts", wrong});
    EXPECT_EQ(refused.status, 2) << wrong;
    EXPECT_NE(refused.err.find("--prompts"), std::string::npos) << refused.err;
  }
}

TEST(BenchSlow, ATraceShowsWhatEveryStageDid) {
  Folder folder;
  const std::string trace = folder.path() + "/trace.json";
  const Ran ran = run({"bench", "--quick", "--repetitions", "1", "--batch", "2", "--context", "400",
                       "--device", "sim:2", "--stage-time", "0.1", "--trace", trace});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_NE(ran.out.find("\"idle_share\""), std::string::npos);
  std::ifstream file(trace);
  std::set<std::string> tracks;
  const auto document = nlohmann::json::parse(file);
  for (const nlohmann::json& event : document["traceEvents"]) {
    if (event["ph"] == "M") tracks.insert(event["args"]["name"]);
  }
  EXPECT_TRUE(tracks.contains("stage 0 main") && tracks.contains("stage 1 main"));
  EXPECT_EQ(run({"bench", "--quick", "--trace", trace}).status, 2);
}

}  // namespace
}  // namespace manyspan::tests
