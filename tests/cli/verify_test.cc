#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "engine/gguf_trial.h"
#include "tests/cli/bounds.h"
#include "tests/cli/program.h"

namespace manyspan::tests {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

const std::string kBundled = MANYSPAN_SOURCE_DIR "/models/first-light";
const std::string kHostile = MANYSPAN_SOURCE_DIR "/tests/data/hostile/";

bool says(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

class CliVerify : public testing::Test {
 protected:
  // A copy of the bundled model that may be damaged.
  std::string copy() const {
    const std::string path = folder_ / "model";
    fs::copy(kBundled, path);
    for (const auto& entry : fs::directory_iterator(path))
      fs::permissions(entry, fs::perms::owner_write, fs::perm_options::add);
    return path;
  }
  // The last bytes of its weights, which are FP8 codes of layers.9.ffn.shared_experts.w3.weight.
  static void put_nan(const std::string& model) {
    std::fstream file(model + "/model.safetensors", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-3, std::ios::end);
    file.write("\xff\xff", 2);
  }

  const TemporaryFolder folder_;
};

TEST_F(CliVerify, TheBundledModelIsGoodAndSoAreItsGgufs) {
  const auto bundled = Checkpoint::open(kBundled).value();
  const std::string one = write_as_gguf(kBundled, *bundled, folder_ / "one", false);
  const std::string split = write_as_gguf(kBundled, *bundled, folder_ / "split", true, 3);
  for (const std::string& model : {kBundled, one, split}) {
    const Ran ran = run({"verify", model, "--json"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(ran.err, "");
    const json said = json::parse(ran.out, nullptr, false);
    EXPECT_EQ(said["good"], true);
    EXPECT_EQ(said["what"], "a whole model of 12 layers");
    EXPECT_EQ(said["bad"], 0);
    EXPECT_EQ(said["bytes_read"], said["tensor_bytes"]);
    EXPECT_GT(said["numbers"], 10'000'000);
  }
  const Ran ran = run({"verify"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_TRUE(says(ran.out, "first-light: good\n")) << ran.out;
}

TEST_F(CliVerify, ABadNumberIsToldAndCounted) {
  const std::string model = copy(), file = model + "/model.safetensors";
  put_nan(model);
  const Ran ran = run({"verify", model});
  EXPECT_EQ(ran.status, 3);
  EXPECT_TRUE(says(ran.out, "finding: " + file + ": tensor layers.9.ffn.shared_experts.w3.weight: code "));
  EXPECT_TRUE(says(ran.out, " is NaN (0xff); 2 such in this tensor\n")) << ran.out;
  EXPECT_TRUE(says(ran.out, model + ": 1 finding\n"));
  EXPECT_TRUE(ran.err.starts_with("manyspan: " + file + ": tensor ")) << ran.err;
  const std::string manifest = folder_ / "m";
  EXPECT_EQ(run({"verify", model, "--write-manifest", manifest}).status, 3);
  EXPECT_FALSE(fs::exists(manifest));
}

TEST_F(CliVerify, AManifestIsWrittenOnceAndTellsEveryChange) {
  const std::string model = copy(), manifest = folder_ / "m.sha256";
  EXPECT_EQ(run({"verify", model, "--write-manifest", manifest}).status, 0);
  EXPECT_EQ(run({"verify", model, "--write-manifest", manifest}).status, 2);
  const Ran good = run({"verify", model, "--manifest", manifest});
  EXPECT_EQ(good.status, 0) << good.out;
  EXPECT_TRUE(says(good.out, "manifest: 6 of 6 files have the SHA-256 that ")) << good.out;
  EXPECT_EQ(run_shell("cd '" + model + "' && sha256sum --quiet -c '" + manifest + "'").status, 0);

  std::ofstream(model + "/generation_config.json", std::ios::app) << " ";
  fs::remove(model + "/tokenizer_config.json");
  const Ran changed = run({"verify", model, "--manifest", manifest});
  EXPECT_EQ(changed.status, 3);
  EXPECT_TRUE(says(changed.out, model + "/generation_config.json: its SHA-256 is ")) << changed.out;
  EXPECT_TRUE(says(changed.out, model + "/tokenizer_config.json: No such file")) << changed.out;
  EXPECT_TRUE(says(changed.out, "manifest: 4 of 6 files"));

  fs::resize_file(model + "/model.safetensors", 1000);  // no container any more; its hash is still compared
  const Ran cut = run({"verify", model, "--manifest", manifest});
  EXPECT_EQ(cut.status, 3);
  EXPECT_TRUE(says(cut.out, model + "/model.safetensors: its SHA-256 is ")) << cut.out;
}

TEST_F(CliVerify, WeightsThatAManifestDoesNotNameAreAFinding) {
  const std::string hex(64, '0'), listed = folder_.put("m", hex + "  config.json\n");
  const Ran ran = run({"verify", kBundled, "--manifest", listed});
  EXPECT_EQ(ran.status, 3);
  EXPECT_TRUE(
      says(ran.out, "finding: " + kBundled + "/model.safetensors: " + listed + " does not name it\n"));
  EXPECT_TRUE(says(ran.out, "note: " + kBundled + "/tokenizer.json: " + listed + " does not name it\n"));
  const std::string outside = folder_.put("out", hex + "  ../x\n");
  const Ran refused = run({"verify", kBundled, "--manifest", outside});
  EXPECT_EQ(refused.status, 3);
  EXPECT_EQ(refused.out, "");
  EXPECT_TRUE(says(refused.err, outside + ": line 1: a name that leads out of the folder")) << refused.err;
}

TEST_F(CliVerify, EveryMissingTensorIsTold) {
  const std::string model = folder_ / "t1";
  fs::copy(MANYSPAN_SOURCE_DIR "/tests/data/t1_base", model);
  fs::permissions(model + "/config.json", fs::perms::owner_write, fs::perm_options::add);
  std::string config = read_file(model + "/config.json", 1 << 20).value();
  const std::string eight = "\"n_routed_experts\": 8";
  ASSERT_TRUE(says(config, eight));
  config.replace(config.find(eight) + eight.size() - 1, 1, "9");
  std::ofstream(model + "/config.json") << config;
  const Ran ran = run({"verify", model, "--json", "--max-findings", "12"});
  EXPECT_EQ(ran.status, 3);
  const json said = json::parse(ran.out, nullptr, false);
  EXPECT_GE(said["findings_count"], 30) << ran.out;  // three a layer
  EXPECT_EQ(said["findings"].size(), 12u);
  EXPECT_GT(said["numbers"], 0);  // which are looked at nevertheless
}

TEST_F(CliVerify, EveryHostileFileIsAFindingAtNextToNoCost) {
  const json manifest = json::parse(std::ifstream(kHostile + "manifest.json"));
  int tried = 0;
  for (const json& entry : manifest["files"]) {
    const std::string path = kHostile + entry["file"].get<std::string>();
    SCOPED_TRACE(path);
    const Ran ran = run_within_bounds({"verify", path});
    ++tried;
    if (entry["expect"] == "load") {
      // A GGUF that is sound and says too little is no whole model.
      const bool whole = !path.ends_with(".gguf") || says(ran.out, "good\n");
      EXPECT_EQ(ran.status, whole ? 0 : 3) << path << ran.out << ran.err;
      EXPECT_EQ(says(ran.err, "no whole model"), !whole) << path << ran.err;
    } else {
      EXPECT_EQ(ran.status, 3) << path << ran.out;
      EXPECT_TRUE(says(ran.err, path)) << ran.err;
    }
  }
  EXPECT_GE(tried, 100);
}

TEST_F(CliVerify, WrongUsageIsSaidOfTheOption) {
  const std::string listed = folder_.put("m", std::string(64, '0') + "  config.json\n");
  const std::pair<const char*, std::vector<std::string>> kCases[] = {
      {"--sample", {"--sample", "0"}},
      {"--sample", {"--sample", "2"}},
      {"--threads", {"--threads", "0"}},
      {"--sample", {"--sample", "0.5", "--manifest", listed}},
      {"--write-manifest", {"--manifest", listed, "--write-manifest", folder_ / "w"}},
      {"--write-manifest", {"--write-manifest", listed}}};
  for (const auto& [option, more] : kCases) {
    std::vector<std::string> all = {"verify", kBundled};
    all.insert(all.end(), more.begin(), more.end());
    const Ran ran = run(all);
    EXPECT_EQ(ran.status, 2) << ran.err;
    EXPECT_TRUE(says(ran.err, option)) << ran.err;
  }
  EXPECT_EQ(run({"verify", folder_ / "absent"}).status, 3);
}

TEST_F(CliVerify, ASampleReadsLess) {
  const Ran ran = run({"verify", kBundled, "--sample", "0.01", "--json", "--threads", "1"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  const json said = json::parse(ran.out, nullptr, false);
  EXPECT_LT(said["bytes_read"], said["tensor_bytes"]);
  EXPECT_EQ(said["threads"], 1);
}

}  // namespace
}  // namespace manyspan::tests
