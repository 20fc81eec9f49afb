#include "engine/model_folder.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "engine/checkpoint.h"

namespace manyspan {
namespace {

namespace fs = std::filesystem;

TEST(ModelFolder, IsBesideTheLinkFirstThenBesideWhatItLeadsTo) {
  const TemporaryFolder folder;
  for (const char* name : {"links", "blobs"}) fs::create_directory(folder / name);
  const std::string blob = folder.put("blobs/model.safetensors", ""), link = folder / "links/a.safetensors";
  fs::create_symlink("../middle.safetensors", link);
  fs::create_symlink("blobs/model.safetensors", folder / "middle.safetensors");
  EXPECT_EQ(model_folder_of(link), folder / "links") << "no config.json anywhere";
  folder.put("blobs/config.json", "{}");
  EXPECT_EQ(model_folder_of(link), fs::canonical(folder / "blobs").string());
  EXPECT_EQ(model_folder_of(blob), folder / "blobs");
  folder.put("links/config.json", "{}");
  EXPECT_EQ(model_folder_of(link), folder / "links");
}

TEST(ModelFolder, IsWhatWasNamedWhereNoLinkLeadsOn) {
  const TemporaryFolder folder;
  EXPECT_EQ(model_folder_of(folder.path()), folder.path());
  EXPECT_EQ(model_folder_of("nowhere.safetensors"), ".");
  fs::create_symlink("nowhere", folder / "dangling.safetensors");
  EXPECT_EQ(model_folder_of(folder / "dangling.safetensors"), folder.path());
}

TEST(ModelFolder, ACheckpointOpensThroughALinkFromAnotherFolder) {
  const TemporaryFolder folder;
  const std::string link = folder / "x.safetensors";
  fs::create_symlink(MANYSPAN_SOURCE_DIR "/models/first-light/model.safetensors", link);
  const auto opened = Checkpoint::open(link);
  ASSERT_TRUE(opened.ok()) << opened.error().message();
  EXPECT_TRUE(opened.value()->tokenizer);
  EXPECT_EQ(opened.value()->defaults.thinking, "off");
}

}  // namespace
}  // namespace manyspan
