#include "spec/config_text.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "spec/gguf_blueprint.h"
#include "spec/gguf_keys.h"

namespace manyspan {
namespace {

std::string file(const char* name) {
  return read_file(std::string(MANYSPAN_SOURCE_DIR "/") + name, 1 << 20).value();
}

TEST(ConfigText, GivesTheBlueprintThatItWasMadeOf) {
  for (const char* name : {"tests/data/configs/release.json", "tests/data/t1_base/config.json",
                           "tests/data/t2_multi/config.json", "models/first-light/config.json"}) {
    const Blueprint b = read_blueprint(file(name)).value();
    const auto again = read_blueprint(config_text(b));
    ASSERT_TRUE(again.ok()) << again.error().message();
    EXPECT_EQ(config_text(again.value()), config_text(b)) << name;
    EXPECT_TRUE(again.value().warnings.empty()) << again.value().warnings[0];
    EXPECT_EQ(again.value().norm_eps, b.norm_eps);
    EXPECT_EQ(again.value().compress_ratios, b.compress_ratios);
  }
}

// Every number of the official file stands in the one that is made of its blueprint.
TEST(ConfigText, SaysWhatTheOfficialFileSays) {
  const Json official = parse_json(file("tests/data/configs/release.json")).value();
  const Json made = config_of(read_blueprint(compact_json(official)).value());
  int compared = 0;
  for (const char* part : {"", "text_config", "vision_config", "quantization_config"}) {
    const Json& from = *part == 0 ? official : *official.find(part);
    const Json& to = *part == 0 ? made : *made.find(part);
    for (const JsonMember& m : *from.object()) {
      if (m.value.object() != nullptr || m.key == "use_cache" || m.key == "initializer_range") continue;
      const Json* said = to.find(m.key);
      ASSERT_NE(said, nullptr) << m.key;
      EXPECT_EQ(compact_json(*said), compact_json(m.value)) << m.key;
      ++compared;
    }
  }
  EXPECT_GT(compared, 60);
}

TEST(ConfigText, IsIndentedAndKeepsListsInOneLine) {
  const Json json = parse_json(R"({"a": [1, 2], "b": {"c": "d"}, "e": {}})").value();
  EXPECT_EQ(indented_json(json), "{\n  \"a\": [1,2],\n  \"b\": {\n    \"c\": \"d\"\n  },\n  \"e\": {}\n}\n");
}

TEST(GgufKeys, SayTheModelsNumbersWithoutTensorsToDeriveThemFrom) {
  const Blueprint b = read_blueprint(file("tests/data/configs/release.json")).value();
  const auto model = read_gguf_blueprint(gguf_keys(b), {});
  ASSERT_TRUE(model.ok()) << model.error().message();
  EXPECT_EQ(model.value().blueprint.kv_sources, b.kv_sources);
  EXPECT_EQ(model.value().blueprint.index_sources, b.index_sources);
  EXPECT_EQ(model.value().blueprint.engram.table_rows, b.engram.table_rows);
  EXPECT_TRUE(model.value().blueprint.warnings.empty());
}

TEST(GgufKeys, SayAModelWithoutScalingWithoutCandidatesAndWithoutEngram) {
  Json config = parse_json(file("tests/data/t1_base/config.json")).value();
  Json text = *config.find("text_config");
  text.set("rope_scaling", nullptr);
  text.set("candidate_source_layer_id", -1);
  text.set("engram_layer_ids", Json::Array{});
  text.set("engram_num_embeddings", Json::Array{});
  config.set("text_config", text);
  const Blueprint b = read_blueprint(compact_json(config)).value();
  const auto model = read_gguf_blueprint(gguf_keys(b), {});
  ASSERT_TRUE(model.ok()) << model.error().message();
  EXPECT_EQ(model.value().blueprint.yarn.original_length, 0);
  EXPECT_EQ(model.value().blueprint.candidate_source, -1);
  EXPECT_TRUE(model.value().blueprint.engram.layers.empty());
}

}  // namespace
}  // namespace manyspan
