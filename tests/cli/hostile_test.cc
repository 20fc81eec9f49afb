// Files that are made to hurt, given to the program: each gets its verdict, with a name, at next to no cost.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include <gtest/gtest.h>

#include "tests/cli/bounds.h"
#include "tests/cli/program.h"

namespace manyspan::tests {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path kData = MANYSPAN_SOURCE_DIR "/tests/data";
const fs::path kHostile = kData / "hostile";

std::string whole_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

json manifest() { return json::parse(whole_file(kHostile / "manifest.json")).at("files"); }

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// An entry as a model that can be named: a GGUF is one by itself, safetensors need a config.json beside them.
class Model {
 public:
  explicit Model(const json& entry) : path_(kHostile / entry.at("file").get<std::string>()) {
    const std::string kind = entry.at("kind");
    if (!kind.starts_with("safetensors")) return;
    json config = json::parse(whole_file(kData / "t1_base/config.json"));
    // The widths of the one tensor that these files have.
    const int width = path_.filename() == "st_scale_shape.safetensors" ? 64 : 32;
    config["text_config"]["hidden_size"] = config["text_config"]["q_lora_rank"] = width;
    folder_.file("config.json", config.dump());
    const fs::path folder = folder_.path();
    fs::create_symlink(kData / "t1_base/engram_token_map.json", folder / "engram_token_map.json");
    if (kind == "safetensors_dir") {
      for (const auto& file : fs::directory_iterator(path_))
        fs::create_symlink(file.path(), folder / file.path().filename());
      path_ = folder;
    } else {
      fs::create_symlink(path_, folder / path_.filename());
      path_ = folder / path_.filename();
    }
    stands_in_folder_ = true;
  }

  std::string path() const { return path_; }
  bool stands_in_folder() const { return stands_in_folder_; }

 private:
  Folder folder_;
  fs::path path_;
  bool stands_in_folder_ = false;
};

void expect_refusal(const Ran& ran, const std::string& path, const std::string& mention) {
  EXPECT_EQ(ran.status, 3) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_TRUE(ran.err.starts_with("manyspan: ")) << ran.err;
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  EXPECT_NE(ran.err.find(path), std::string::npos) << ran.err;
  EXPECT_NE(lower(ran.err).find(lower(mention)), std::string::npos) << ran.err << " lacks " << mention;
}

class CliHostile : public testing::Test {
 protected:
  void TearDown() override { report_costs(); }

  // Every command that opens a model.
  std::vector<Ran> try_model(const std::string& model, bool has_tokenizer) const {
    std::vector<Ran> ran = {
        run_within_bounds({"run", model, "--ids", "1,2,3"}),
        run_within_bounds({"logits", model, "--ids", ids_, "--out", work_.path() + "/logits.safetensors"})};
    if (has_tokenizer) ran.push_back(run_within_bounds({"tokenize", model}, "x"));
    return ran;
  }

  Folder work_;
  std::string ids_ = work_.file("ids.json", "[1, 2, 3]");
};

TEST_F(CliHostile, TheManifestNamesEveryFile) {
  std::set<std::string> named = {"manifest.json"}, there;
  for (const json& entry : manifest()) named.insert(*fs::path(entry.at("file").get<std::string>()).begin());
  for (const auto& file : fs::directory_iterator(kHostile)) there.insert(file.path().filename());
  EXPECT_EQ(named, there);
  EXPECT_EQ(manifest().size(), 100u);
}

TEST_F(CliHostile, WhatNoReaderMayOpenIsRefusedByEveryCommand) {
  int tried = 0;
  for (const json& entry : manifest()) {
    if (entry.at("expect") != "error" || entry.at("level") != "container") continue;
    SCOPED_TRACE(entry.at("file"));
    const std::string path = kHostile / entry.at("file").get<std::string>(),
                      mention = entry.at("error_mentions");
    expect_refusal(run_within_bounds({"inspect", path}), path, mention);
    const Model model(entry);
    for (const Ran& ran : try_model(model.path(), !model.stands_in_folder()))
      expect_refusal(ran, model.path(), mention);
    ++tried;
  }
  EXPECT_EQ(tried, 82);
}

TEST_F(CliHostile, WhatNoModelMayHoldIsRefusedWhereAModelIsOpened) {
  int tried = 0;
  for (const json& entry : manifest()) {
    if (entry.at("level") != "model") continue;
    SCOPED_TRACE(entry.at("file"));
    const std::string path = kHostile / entry.at("file").get<std::string>(),
                      mention = entry.at("error_mentions");
    const Model model(entry);
    const Ran shown = run_within_bounds({"inspect", path});
    if (model.stands_in_folder()) {
      EXPECT_EQ(shown.status, 0) << shown.err;  // tensors that are no model's can be looked at
    } else {
      expect_refusal(shown, path, mention);
    }
    // What is missing is seen before numbers are looked at: the next test gives a whole model such a scale.
    const bool of_numbers = model.path().ends_with("st_scale_nan.safetensors");
    for (const Ran& ran : try_model(model.path(), !model.stands_in_folder()))
      expect_refusal(ran, model.path(), of_numbers ? "missing" : mention);
    ++tried;
  }
  EXPECT_EQ(tried, 11);
}

// The first byte of a tensor's data in a safetensors file.
std::size_t first_byte(const std::string& file, const std::string& tensor) {
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), sizeof length);
  const json header = json::parse(file.substr(sizeof length, length));
  return sizeof length + length + header.at(tensor).at("data_offsets").at(0).get<std::size_t>();
}

TEST_F(CliHostile, AScaleThatIsNoNumberIsNamedInAWholeModel) {
  const std::string tensor = "layers.0.attn.wq_a.scale";
  const json index = json::parse(whole_file(kData / "t1_base/model.safetensors.index.json"));
  const std::string shard = index.at("weight_map").at(tensor);
  for (const auto& file : fs::directory_iterator(kData / "t1_base")) {
    if (file.path().filename() != shard)
      fs::create_symlink(file.path(), fs::path(work_.path()) / file.path().filename());
  }
  std::string bytes = whole_file(kData / "t1_base" / shard);
  bytes[first_byte(bytes, tensor)] = '\xff';
  const std::string path = work_.file(shard, bytes);
  for (const Ran& ran : try_model(work_.path(), false)) {
    expect_refusal(ran, path, "layers.0.attn.wq_a");
    expect_refusal(ran, path, "scale");
    expect_refusal(ran, path, "NaN");
  }
}

TEST_F(CliHostile, WhatIsOddButSoundIsShownAndTooLittleToRun) {
  int tried = 0;
  for (const json& entry : manifest()) {
    if (entry.at("expect") != "load") continue;
    SCOPED_TRACE(entry.at("file"));
    const std::string path = kHostile / entry.at("file").get<std::string>();
    const Ran shown = run_within_bounds({"inspect", path});
    EXPECT_EQ(shown.status, 0) << shown.err;
    EXPECT_NE(shown.out.find(path), std::string::npos);
    const Ran as_json = run_within_bounds({"inspect", path, "--json"});
    EXPECT_EQ(as_json.status, 0) << as_json.err;
    EXPECT_TRUE(json::accept(as_json.out));
    const Model model(entry);
    for (const Ran& ran : try_model(model.path(), !model.stands_in_folder()))
      expect_refusal(ran, model.path(), "");
    ++tried;
  }
  EXPECT_EQ(tried, 7);
}

}  // namespace
}  // namespace manyspan::tests
