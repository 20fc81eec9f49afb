#include <filesystem>

#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "engine/checkpoint.h"
#include "engine/engine.h"
#include "engine/gguf_trial.h"

#ifdef MANYSPAN_SOURCE_DIR

namespace manyspan {
namespace {

const std::string kTiny = MANYSPAN_SOURCE_DIR "/tests/data/t1_base";
const std::string kBundled = MANYSPAN_SOURCE_DIR "/models/first-light";

const Checkpoint& official() {
  static const auto kOpened = Checkpoint::open(kTiny).value();
  return *kOpened;
}

std::string refusal(const std::string& path) {
  auto opened = Checkpoint::open(path);
  return opened.ok() ? "accepted" : opened.error().message();
}

TEST(CheckpointGguf, AFileAFirstPartAndAFolderOpenAsTheSameModel) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "whole");
  std::filesystem::create_directory(folder / "split");
  const std::string whole = write_as_gguf(kTiny, official(), folder / "whole/m", false);
  const std::string first = write_as_gguf(kTiny, official(), folder / "split/m", true, 3);
  for (const std::string& path : {whole, first, folder / "whole", folder / "split"}) {
    auto opened = Checkpoint::open(path);
    ASSERT_TRUE(opened.ok()) << opened.error().message();
    const Checkpoint& c = *opened.value();
    EXPECT_EQ(c.path, path);
    EXPECT_EQ(c.container->format(), ContainerFormat::gguf);
    EXPECT_EQ(c.container->files(), path == first || path == folder / "split" ? 3u : 1u);
    EXPECT_EQ(c.blueprint.layers, official().blueprint.layers);
    EXPECT_EQ(c.schedule.layers.size(), official().schedule.layers.size());
    ASSERT_TRUE(c.engram_map.has_value());
    for (std::int32_t t = 0; t < c.blueprint.vocabulary; ++t)
      ASSERT_EQ(c.engram_map->class_of({t}), official().engram_map->class_of({t})) << t;
    EXPECT_FALSE(c.tokenizer.has_value());
  }
}

TEST(CheckpointGguf, AnotherPartIsRefusedWithTheFirstOnesName) {
  const TemporaryFolder folder;
  write_as_gguf(kTiny, official(), folder / "m", false, 3);
  const std::string said = refusal(folder / "m-00002-of-00003.gguf");
  EXPECT_NE(said.find("part 2 of 3; open its first part, m-00001-of-00003.gguf"), said.npos) << said;
}

TEST(CheckpointGguf, TheTokenizerComesFromTheKeysAndNoFileBesideIsLookedAt) {
  const TemporaryFolder folder;
  const auto bundled = Checkpoint::open(kBundled).value();
  const std::string path = write_as_gguf(kBundled, *bundled, folder / "m", false);
  for (const char* name :
       {"config.json", "tokenizer.json", "generation_config.json", "engram_token_map.json"})
    folder.put(name, "no JSON at all");
  for (const std::string& named : {path, folder.path()}) {
    auto opened = Checkpoint::open(named);
    ASSERT_TRUE(opened.ok()) << opened.error().message();
    const Checkpoint& c = *opened.value();
    ASSERT_TRUE(c.tokenizer.has_value());
    EXPECT_EQ(c.tokenizer->encode("In the beginning, 42!", true),
              bundled->tokenizer->encode("In the beginning, 42!", true));
    EXPECT_FALSE(c.defaults.thinking_said);
  }
}

TEST(CheckpointGguf, AnEngramTableOfATypeThatIsNotServedIsRefusedWhenAnEngineOpensIt) {
  const TemporaryFolder folder;
  GgufCopy copy(official().weights, false);
  const auto of_table = [](const OwnedTensor& t, const char* plane) {
    return t.name.ends_with(std::string("engram_embd.") + plane);
  };
  ASSERT_GT(std::erase_if(copy.tensors, [&](const OwnedTensor& t) { return of_table(t, "scale"); }), 0u);
  for (OwnedTensor& t : copy.tensors) {
    if (!of_table(t, "weight")) continue;
    const StoredBlock block = block_of(StoredType::q8_0);
    t.type = StoredType::q8_0;
    t.data.assign(static_cast<std::size_t>(t.shape[0] * t.shape[1] / block.elements * block.bytes), {});
  }
  const std::string path = copy.write(folder / "m", gguf_keys_of(kTiny, official(), false));
  EXPECT_EQ(refusal(path), "accepted") << "its tensors can be looked at";
  const auto engine = Engine::open({.model = path});
  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.error().fault(), Fault::unsupported);
  const std::string& said = engine.error().message();
  EXPECT_TRUE(said.starts_with(path + ": tensor blk.")) << said;
  EXPECT_NE(said.find("engram_embd.weight: an Engram table stored as Q8_0 is not served yet"), said.npos)
      << said;
}

TEST(CheckpointGguf, KeysThatContradictEachOtherAreRefusedByName) {
  const TemporaryFolder folder;
  const auto bundled = Checkpoint::open(kBundled).value();
  const Json sound = gguf_keys_of(kBundled, *bundled, false);
  const GgufCopy copy(bundled->weights, false);
  {
    Json keys = sound;
    std::vector<std::int32_t> map = token_map_of(kBundled, *bundled);
    std::swap(map[5], map[6]);
    keys.set("deepseek41.engram.token_map", json_list(map));
    const std::string path = copy.write(folder / "map", keys), said = refusal(path);
    EXPECT_TRUE(said.starts_with(path + ": deepseek41.engram.token_map: token 5 has class ")) << said;
  }
  {
    Json keys = Json::Object{};
    for (const JsonMember& m : *sound.object()) {
      if (!m.key.starts_with("tokenizer.ggml.") && m.key != "deepseek41.engram.token_map" &&
          m.key != "deepseek41.engram.pad_id")
        keys.set(m.key, m.value);
    }
    const std::string path = copy.write(folder / "none", keys), said = refusal(path);
    EXPECT_EQ(said, path +
                        ": the Engram layers need deepseek41.engram.token_map or tokenizer.ggml.tokens; "
                        "neither key is there");
  }
  {
    Json keys = sound;
    keys.set("general.architecture", "llama");
    const std::string path = copy.write(folder / "other", keys), said = refusal(path);
    EXPECT_TRUE(said.starts_with(path + ": general.architecture is \"llama\"")) << said;
  }
}

}  // namespace
}  // namespace manyspan

#endif
