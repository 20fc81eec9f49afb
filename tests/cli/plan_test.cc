#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace manyspan::tests {
namespace {

using nlohmann::json;

constexpr std::int64_t kGigabyte = 1'000'000'000;
const std::string kEnds = "5,10,15,20,25,30,35,40";

// A folder with the released model's config.json and nothing else, and a described machine of eight GPUs.
class Plan : public testing::Test {
 protected:
  Plan() {
    std::filesystem::copy_file(MANYSPAN_SOURCE_DIR "/tests/data/configs/release.json",
                               folder_.path() + "/config.json");
    machine_ = folder_.file("gpus.json", gpus(48 * kGigabyte).dump());
  }

  static json gpus(std::int64_t bytes) {
    json machine = {{"host_memory_bytes", 512 * kGigabyte}, {"devices", json::array()}};
    for (int i = 0; i < 8; ++i) {
      machine["devices"].push_back({{"name", "GPU" + std::to_string(i)},
                                    {"kind", "gpu"},
                                    {"memory_bytes", bytes},
                                    {"read_bytes_per_second", 864 * kGigabyte}});
    }
    return machine;
  }

  Ran plan(std::vector<std::string> more) const {
    more.insert(more.begin(), {"plan", folder_.path()});
    return run(more);
  }
  json planned(std::vector<std::string> more) const {
    more.insert(more.end(), {"--json", "--machine", machine_});
    const Ran ran = plan(more);
    EXPECT_EQ(ran.status, 0) << ran.err;
    return json::parse(ran.out, nullptr, false);
  }
  void expect_refusal(int status, const std::string& says, const std::vector<std::string>& more) const {
    const Ran ran = plan(more);
    EXPECT_EQ(ran.status, status) << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_EQ(ran.err, "manyspan: " + says + "\n");
  }

  Folder folder_;
  std::string machine_;
};

TEST_F(Plan, TellsTheStateMetOnEachOfEightDevices) {
  const json document = planned({"--layer-ends", kEnds});
  ASSERT_EQ(document["stages"].size(), 8u);
  using List = std::vector<std::string>;
  const std::vector<std::pair<std::string, List>> table = {
      {"0-4", {"Engram at L1", "L2 publishes KV and selections for L3-7"}},
      {"5-9", {"L5-7 continue L2's KV and selections", "L8 publishes KV and selections for L9-13"}},
      {"10-14",
       {"L10-13 continue L8's KV and selections", "Engram at L14",
        "L14 publishes KV and selections for L15-19"}},
      {"15-19", {"L15-19 continue L14's KV and selections"}},
      {"20-24",
       {"L20 publishes KV for L21-39, selections for L21-23, candidates for L24, L28, L32, L36",
        "L24 reselects over L20's KV for L25-27"}},
      {"25-29", {"L25-27 continue L20's KV and L24's selections", "L28 reselects over L20's KV for L29-31"}},
      {"30-34", {"L30-31 continue L20's KV and L28's selections", "L32 reselects over L20's KV for L33-35"}},
      {"35-39", {"L35 continues L20's KV and L32's selections", "L36 reselects over L20's KV for L37-39"}}};
  for (std::size_t i = 0; i < table.size(); ++i) {
    const json& stage = document["stages"][i];
    EXPECT_EQ(stage["name"], "GPU" + std::to_string(i));
    EXPECT_EQ(stage["layers"], json::array({table[i].first}));
    EXPECT_EQ(stage["state"], json(table[i].second)) << i;
    EXPECT_GT(stage["weight_bytes"], 30 * kGigabyte);
    EXPECT_EQ(stage["bytes"],
              stage["weight_bytes"].get<std::int64_t>() + stage["kv_bytes"].get<std::int64_t>() +
                  stage["scratch_bytes"].get<std::int64_t>() + stage["boundary_bytes"].get<std::int64_t>());
  }
  EXPECT_EQ(document["encodings"], "implied");
  EXPECT_EQ(document["fits"], true);
  // The same in text, in the same order.
  const Ran text = plan({"--layer-ends", kEnds, "--machine", machine_});
  ASSERT_EQ(text.status, 0) << text.err;
  std::size_t at = 0;
  for (std::size_t i = 0; i < table.size(); ++i) {
    std::string layers = "L" + table[i].first;
    std::vector<std::string> wanted = {"\nGPU" + std::to_string(i) + "  " + layers + "  "};
    for (const std::string& line : table[i].second) wanted.push_back("\n    " + line + "\n");
    for (const std::string& line : wanted) {
      const std::size_t found = text.out.find(line, at);
      ASSERT_NE(found, std::string::npos) << line << text.out;
      at = found + line.size() - 1;
    }
  }
}

TEST_F(Plan, TellsWhatCrossesEachBoundary) {
  const json boundaries = planned({"--layer-ends", kEnds})["boundaries"];
  ASSERT_EQ(boundaries.size(), 7u);
  EXPECT_EQ(boundaries[0], (json{{"from", "GPU0"},
                                 {"to", "GPU1"},
                                 {"before_layer", 5},
                                 {"crosses", "streams, pre, selection of 2, new rows of 2"},
                                 {"bytes_a_row", 43384}}));
  EXPECT_EQ(boundaries[3]["crosses"], "streams, pre");
  EXPECT_EQ(boundaries[3]["bytes_a_row"], 40976);
  EXPECT_EQ(boundaries[4]["crosses"], "streams, pre, selection of 24, candidates, new rows of 20");
  EXPECT_EQ(boundaries[4]["bytes_a_row"], 51580);
}

TEST_F(Plan, FindsACutThatFitsAndIsQuicker) {
  const auto slowest = [](const json& document) {
    double most = 0;
    for (const json& stage : document["stages"])
      most = std::max(most, stage["seconds_a_token"].get<double>());
    return most;
  };
  const json sought = planned({"--sessions", "8"}), even = planned({"--layer-ends", kEnds});
  EXPECT_EQ(sought["sessions"], 8);
  EXPECT_LT(slowest(sought), 0.7 * slowest(even));  // the head is as much as four layers
}

TEST_F(Plan, TwoLapsComeFromAStagesFile) {
  const std::string laps = folder_.file("laps.yaml",
                                        "- {device: 1, layers: [\"0-9\", \"21-30\"]}\n"
                                        "- device: 0\n  layers: [10-20, 31-38, 39]\n");
  const std::string big = folder_.file("big.json", gpus(200 * kGigabyte).dump());
  const Ran ran = plan({"--stages", laps, "--machine", big, "--json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json document = json::parse(ran.out);
  EXPECT_EQ(document["stages"][0]["name"], "GPU1");
  EXPECT_EQ(document["stages"][0]["layers"], json::array({"0-9", "21-30"}));
  EXPECT_EQ(document["boundaries"].size(), 3u);
  EXPECT_EQ(document["boundaries"][1]["before_layer"], 21);
  EXPECT_EQ(document["idle"].size(), 6u);
  folder_.file("laps.yaml", "[{device: 8, layers: [\"0-39\"]}]");
  expect_refusal(3, laps + ": device 8 of 8 devices: they are numbered from 0",
                 {"--stages", laps, "--machine", machine_});
}

TEST_F(Plan, WhatDoesNotFitEndsWithBothNumbers) {
  const std::string small = folder_.file("small.json", gpus(24 * kGigabyte).dump());
  const Ran none = plan({"--machine", small});
  EXPECT_EQ(none.status, 1);
  EXPECT_EQ(none.out, "");
  EXPECT_NE(none.err.find(" bytes; the devices have 192000000000\n"), std::string::npos) << none.err;
  // A person's cut is shown all the same.
  const Ran shown = plan({"--machine", small, "--layer-ends", kEnds, "--json"});
  EXPECT_EQ(shown.status, 1);
  EXPECT_EQ(json::parse(shown.out)["fits"], false);
  EXPECT_EQ(shown.err.rfind("manyspan: GPU0: layers L0-4 need ", 0), 0u) << shown.err;
  EXPECT_NE(shown.err.find(" bytes; it has 24000000000\n"), std::string::npos) << shown.err;
}

TEST_F(Plan, WrongUsageIsRefused) {
  const std::string on = "--machine";
  expect_refusal(2, "--layer-ends: the last layer end is 35; the model has 40 layers",
                 {on, machine_, "--layer-ends", "5,10,15,20,25,30,35"});
  expect_refusal(2, "--layer-ends: 9 stages; there are 8 devices",
                 {on, machine_, "--layer-ends", "1,2,3,4,5,6,7,8,40"});
  expect_refusal(2, "--context: a context of 2000000 tokens; the model takes 1 to 1048576",
                 {on, machine_, "--context", "2000000"});
}

TEST_F(Plan, AWrongMachineIsRefusedWithFileDeviceAndKey) {
  json machine = gpus(1);
  machine["devices"][3]["memory_bytes"] = "48 GB";
  const std::string path = folder_.file("wrong.json", machine.dump());
  expect_refusal(3,
                 path +
                     ": device 3 (GPU3): memory_bytes: must be a whole number from 1 to "
                     "1152921504606846976, is a string",
                 {"--machine", path});
  folder_.file("wrong.json", "{\n\"devices\": [}");
  const Ran broken = plan({"--machine", path});
  EXPECT_EQ(broken.status, 3);
  EXPECT_EQ(broken.err.rfind("manyspan: " + path + ": ", 0), 0u) << broken.err;
  EXPECT_EQ(plan({"--machine", "/none"}).status, 3);
}

TEST_F(Plan, AWrongConfigurationIsRefusedWithFileAndKey) {
  folder_.file("config.json", R"({"model_type": "deepseek_v41", "text_config": {"hidden_size": "x"}})");
  const Ran ran = plan({});
  EXPECT_EQ(ran.status, 3);
  EXPECT_EQ(ran.err.rfind("manyspan: " + folder_.path() + "/config.json: ", 0), 0u) << ran.err;
  EXPECT_NE(ran.err.find("hidden_size"), std::string::npos) << ran.err;
}

TEST(PlanHere, ThisMachineRunsTheBundledModelByItself) {
  const Ran ran = run({"plan", "--json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json document = json::parse(ran.out);
  EXPECT_EQ(document["encodings"], "stored");
  ASSERT_EQ(document["stages"].size(), 1u);
  EXPECT_EQ(document["stages"][0]["kind"], "cpu");
  EXPECT_GT(document["stages"][0]["memory_bytes"], 0);
  const Ran cut = run({"plan", "--layer-ends", "4,8,12", "--json"});
  ASSERT_EQ(cut.status, 0) << cut.err;
  EXPECT_EQ(json::parse(cut.out)["stages"].size(), 3u);
}

}  // namespace
}  // namespace manyspan::tests
