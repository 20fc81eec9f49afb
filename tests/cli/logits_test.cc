#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include "container/container.h"
#include "tests/cli/program.h"

namespace manyspan::tests {
namespace {

const std::string kTiny = MANYSPAN_SOURCE_DIR "/tests/data/t1_base";
const std::string kGolden = kTiny + "/golden.json";

std::vector<float> floats(const Container& container, const std::string& name) {
  const StoredTensor* tensor = container.find(name);
  if (tensor == nullptr || tensor->type != StoredType::f32) return {};
  std::vector<float> values(tensor->bytes / sizeof(float));
  std::memcpy(values.data(), container.bytes(*tensor).data(), tensor->bytes);
  return values;
}

double furthest(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return INFINITY;
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    most = std::max(most, std::fabs(static_cast<double>(a[i]) - b[i]));
  return most;
}

Container open(const std::string& path) {
  Result<Container> opened = open_container(path);
  CHECK(opened.ok(), "the written file can't be read");
  return std::move(opened).value();
}

TEST(LogitsFile, HoldsEveryPositionAndEveryTapAsTheOracleDoes) {
  Folder folder;
  const std::string out = folder.path() + "/out.safetensors";
  const Container golden = open(kTiny + "/golden.safetensors");
  std::string taps;
  for (const StoredTensor& tensor : golden.tensors()) {
    const bool of_a_layer = tensor.name.front() == 'L';
    if (of_a_layer || tensor.name == "x_out" || tensor.name == "pre_out" || tensor.name == "final_norm") {
      taps += (taps.empty() ? "" : ",") + tensor.name;
    }
  }
  const Ran ran = run({"logits", kTiny, "--ids", kGolden, "--out", out, "--numerics", "strict", "--taps",
                       taps, "--chunks", "3,5,37", "--json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(nlohmann::json::parse(ran.out)["decode"], 27);
  const Container written = open(out);
  for (const StoredTensor& tensor : written.tensors()) {
    const StoredTensor* judge = golden.find(tensor.name);
    ASSERT_NE(judge, nullptr) << tensor.name;
    EXPECT_EQ(described(tensor), described(*judge)) << tensor.name;
  }
  EXPECT_EQ(written.tensors().size(),
            2 + static_cast<std::size_t>(std::count(taps.begin(), taps.end(), ',')) + 1);
  EXPECT_LT(furthest(floats(written, "prefill.logits"), floats(golden, "prefill.logits")), 1e-3);
  EXPECT_LT(furthest(floats(written, "decode.logits"), floats(golden, "decode.logits")), 1e-3);
}

// Every byte of the file: logits and taps.
TEST(LogitsFile, IsTheSameHoweverTheModelIsCut) {
  Folder folder;
  const auto written = [&](const std::vector<std::string>& more) {
    const std::string out = folder.path() + "/out.safetensors";
    std::vector<std::string> arguments = {
        "logits",   kTiny,
        "--ids",    kGolden,
        "--out",    out,
        "--chunks", "3,5,37",
        "--taps",   "attn_in,selection,kv_rows,experts,engram_rows,cand_blocks,x_out"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ran ran = run(arguments);
    EXPECT_EQ(ran.status, 0) << ran.err;
    std::ifstream file(out, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string whole = written({"--device", "cpu"});
  ASSERT_GT(whole.size(), 100'000u);
  const std::string layers = std::to_string(
      nlohmann::json::parse(std::ifstream(kTiny + "/config.json"))["text_config"]["num_hidden_layers"]
          .get<int>());
  const std::string last = std::to_string(std::stoi(layers) - 1);
  EXPECT_TRUE(written({"--device", "sim:3", "--layer-ends", "1,3," + layers}) == whole);
  EXPECT_TRUE(written({"--device", "cpu", "--layer-ends", "1,3," + layers}) == whole);
  EXPECT_TRUE(written({"--device", "sim:2"}) == whole);
  const std::string laps = folder.file("laps.yaml",
                                       "- {device: 1, layers: [\"0-1\", 3]}\n"
                                       "- {device: 0, layers: [2, \"4-" +
                                           last + "\"]}\n");
  EXPECT_TRUE(written({"--device", "sim:2", "--stages", laps}) == whole);
}

TEST(LogitsFile, AWrongStagesFileIsRefusedByName) {
  Folder folder;
  const std::string out = folder.path() + "/out.safetensors", at = folder.path() + "/stages.json";
  const auto refuse = [&](const std::string& text, const std::string& says) {
    folder.file("stages.json", text);
    const Ran ran = run({"logits", kTiny, "--ids", kGolden, "--out", out, "--stages", at});
    EXPECT_EQ(ran.status, 3) << text << ran.err;
    EXPECT_EQ(ran.err, "manyspan: " + at + ": " + says + "\n");
  };
  refuse("[]", "must be a list of stages, as - {device: 0, layers: [\"0-4\"]}");
  refuse("{device: 0}", "must be a list of stages, as - {device: 0, layers: [\"0-4\"]}");
  refuse("[7]", "stage 0: must be as {device: 0, layers: [\"0-4\"]}");
  refuse("[{device: 0}]", "stage 0: layers: missing");
  refuse("[{layers: [\"0-4\"]}]", "stage 0: device: missing");
  refuse("[{device: 0, device: 1, layers: 3}]", "stage 0: device: given twice");
  refuse("[{device: -1, layers: [0]}]", "stage 0: device: must be a device's number, from 0");
  refuse("[{device: 0, layers: []}]", "stage 0: layers: must be a list of ranges, as [\"0-4\", \"21-25\"]");
  refuse("[{device: 0, layers: [\"4-\"]}]", "stage 0: layers: \"4-\" is no range of layers, as \"5-9\"");
  refuse("[{device: 0, layers: [\"9-5\"]}]", "stage 0: layers: \"9-5\" ends before it begins");
  refuse("[{device: 0, layer: [1]}]", "stage 0: layer: no such key; there are device and layers");
  refuse("[{device: 0, layers: [\"1-3\"]}]", "layers 0 to 0 are in no stage");
  refuse("[{device: 0, layers: [0]}, {device: 0, layers: [1]}]",
         "device 0 has two stages; give one stage both ranges");
  EXPECT_EQ(run({"logits", kTiny, "--ids", kGolden, "--out", out, "--stages", "/none"}).status, 3);
  EXPECT_EQ(run({"logits", kTiny, "--ids", kGolden, "--out", at, "--stages", at}).status, 2);
}

TEST(LogitsFile, HasNoDecodeWithoutAPromptLength) {
  Folder folder;
  const std::string out = folder.path() + "/out.safetensors";
  const std::string ids = folder.file("ids.json", "[0, 50, 297, 187, 220]");
  ASSERT_EQ(run({"logits", kTiny, "--ids", ids, "--out", out}).status, 0);
  EXPECT_EQ(open(out).tensors().size(), 1u);
  EXPECT_EQ(described(*open(out).find("prefill.logits")), "F32 [5, 384]");

  EXPECT_EQ(run({"logits", kTiny, "--ids", ids, "--out", "/dev/null"}).status, 0);

  // What is there is replaced.
  ASSERT_EQ(run({"logits", kTiny, "--ids", ids, "--out", out, "--prompt", "2"}).status, 0);
  EXPECT_EQ(described(*open(out).find("prefill.logits")), "F32 [2, 384]");
  EXPECT_EQ(described(*open(out).find("decode.logits")), "F32 [3, 384]");
}

TEST(LogitsFile, PromptWinsOverTheFilesPromptLength) {
  Folder folder;
  const std::string out = folder.path() + "/out.safetensors";
  ASSERT_EQ(run({"logits", kTiny, "--ids", kGolden, "--out", out, "--prompt", "70"}).status, 0);
  EXPECT_EQ(described(*open(out).find("decode.logits")), "F32 [2, 384]");
}

TEST(LogitsFile, IsNotWrittenWhenSomethingIsWrong) {
  Folder folder;
  const std::string out = folder.file("out.safetensors", "as before");
  const auto refuse = [&](int status, const std::string& says, const std::string& ids,
                          std::vector<std::string> more) {
    std::vector<std::string> arguments = {"logits", kTiny, "--ids", ids};
    if (std::find(more.begin(), more.end(), "--out") == more.end()) more.insert(more.end(), {"--out", out});
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ran ran = run(arguments);
    EXPECT_EQ(ran.status, status) << says << ": " << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_NE(ran.err.find(says), std::string::npos) << ran.err;
    EXPECT_EQ(ran.err.find('\n'), ran.err.size() - 1) << ran.err;
  };
  refuse(2, "add up to 44", kGolden, {"--chunks", "3,4,37"});
  refuse(2, "--chunks", kGolden, {"--chunks", "3,,42"});
  refuse(2, "--chunks", kGolden, {"--chunks", "0,45"});
  refuse(2, "--chunks: it is empty", kGolden, {"--chunks", ""});
  refuse(2, "--taps: it is empty", kGolden, {"--taps", ""});
  refuse(2, "--context: 3 is less than the 72 ids", kGolden, {"--context", "3"});
  refuse(2, "--prompt", kGolden, {"--prompt", "73"});
  refuse(2, "there are", kGolden, {"--taps", "L0.soul"});
  refuse(2, "--taps", kGolden, {"--taps", "attn_in,"});
  refuse(2, "--device: this build has no \"gpu\"; there are cpu and sim:N", kGolden, {"--device", "gpu"});
  refuse(2, "--device: \"sim:0\": sim:N takes 1 to 64 devices", kGolden, {"--device", "sim:0"});
  refuse(2, "--layer-ends: the last layer end is 5; the model has", kGolden, {"--layer-ends", "2,5"});
  refuse(2, "--layer-ends: \"x\" is no number", kGolden, {"--layer-ends", "2,x"});
  refuse(2, "--layer-ends: it is empty", kGolden, {"--layer-ends", ""});
  refuse(2, "--layer-ends: goes without --stages", kGolden, {"--layer-ends", "5", "--stages", kGolden});
  refuse(3, "/none", folder.path() + "/none", {});
  for (const std::string text :
       {"", "[", "7", "{}", "[]", "[0, 384]", "[0, -1]", "[0.5]", "[\"0\"]",
        R"({"ids": [0, 1], "prompt_len": 3})", R"({"ids": [0, 1], "prompt_len": 0})",
        R"({"ids": [0, 1], "token_types": [0, 1]})", R"({"ids": [0, 1], "token_types": [0]})",
        R"({"ids": [0, 1], "token_types": 0})"}) {
    const std::string ids = folder.file("ids.json", text);
    refuse(3, ids, ids, {});
  }
  refuse(1, "/proc/none", kGolden, {"--out", "/proc/none/out.safetensors"});
  refuse(1, "/proc/out", kGolden, {"--out", "/proc/out.safetensors"});
  refuse(1, "a directory", kGolden, {"--out", folder.path()});

  std::ifstream kept(out);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(kept), {}), "as before");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 2);  // and ids.json
}

TEST(LogitsFile, IsNeverOneThatIsReadByWhateverName) {
  namespace fs = std::filesystem;
  Folder folder;
  const fs::path model = fs::path(folder.path()) / "model", there = folder.path();
  fs::copy(kTiny, model);
  const std::string ids = folder.file("ids.json", "[0, 50, 297]");
  fs::create_symlink(ids, there / "soft");
  fs::create_hard_link(model / "config.json", there / "hard");
  fs::create_directory_symlink(model, there / "elsewhere");
  std::string weights;
  for (const auto& entry : fs::directory_iterator(model)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".safetensors") && !name.starts_with("golden")) weights = name;
  }
  ASSERT_NE(weights, "");
  for (const fs::path& out :
       {fs::path(ids), there / "soft", there / "hard", model / "config.json", model / weights,
        there / "elsewhere" / weights, model / ".." / "model" / weights}) {
    const auto size = fs::file_size(out);
    const auto written = fs::last_write_time(out);
    const Ran ran = run({"logits", model.string(), "--ids", ids, "--out", out.string()});
    EXPECT_EQ(ran.status, 2) << out << ran.err;
    EXPECT_EQ(ran.err.rfind("manyspan: --out: ", 0), 0u) << ran.err;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1);
    EXPECT_EQ(fs::file_size(out), size);
    EXPECT_EQ(fs::last_write_time(out), written);
  }
  EXPECT_TRUE(fs::is_symlink(there / "soft"));
  // Another file in the model's folder may be written, and again.
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(run({"logits", model.string(), "--ids", ids, "--out", (model / "out.bin").string()}).status, 0);
  }
}

}  // namespace
}  // namespace manyspan::tests
