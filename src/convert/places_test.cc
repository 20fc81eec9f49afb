#include "convert/places.h"

#include <unistd.h>

#include "convert/convert_trial.h"

namespace manyspan {
namespace {

namespace fs = std::filesystem;

TEST(Places, AResultThatIsThereIsReplacedOnlyWhenAsked) {
  const TemporaryFolder folder;
  folder.put("m.gguf", "mine");
  EXPECT_NE(refused(kTinyModel, folder / "m.gguf").find("m.gguf: is there already"), std::string::npos);
  EXPECT_EQ(whole_file(folder / "m.gguf"), "mine");
  EXPECT_TRUE(converted(kTinyModel, folder / "m.gguf", {.overwrite = true}).finished);
  EXPECT_TRUE(Checkpoint::open(folder / "m.gguf").ok());
  converted(kTinyModel, folder / "m");
  const auto before = whole_folder(folder / "m");
  EXPECT_NE(refused(kTinyModel, folder / "m").find("is there already"), std::string::npos);
  EXPECT_TRUE(converted(kBundledModel, folder / "m", {.overwrite = true}).finished);
  EXPECT_FALSE(whole_folder(folder / "m") == before);
  int left = 0;
  for (const auto& entry : fs::directory_iterator(folder.path())) left += entry.exists();
  EXPECT_EQ(left, 2) << "the old folder went away";
}

TEST(Places, AFolderWithFilesOfOthersIsNeverSweptAway) {
  const TemporaryFolder folder;
  converted(kTinyModel, folder / "m");
  folder.put("m/notes.txt", "mine");
  EXPECT_NE(
      refused(kTinyModel, folder / "m", {.overwrite = true}).find("notes.txt, which no conversion wrote"),
      std::string::npos);
  EXPECT_EQ(whole_file(folder / "m/notes.txt"), "mine");
}

TEST(Places, AnEmptyFolderIsAPlace) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "m");
  EXPECT_TRUE(converted(kTinyModel, folder / "m").finished);
}

TEST(Places, TheInputIsNeverReplacedByWhateverNameOrLink) {
  const TemporaryFolder folder;
  converted(kTinyModel, folder / "m.gguf");
  const std::string bytes = whole_file(folder / "m.gguf");
  fs::create_symlink("m.gguf", folder / "soft.gguf");
  fs::create_hard_link(folder / "m.gguf", folder / "hard.gguf");
  for (const char* name : {"m.gguf", "./m.gguf", "soft.gguf", "hard.gguf"}) {
    const std::string said = refused(folder / "m.gguf", folder / name, {.overwrite = true});
    EXPECT_NE(said.find("is part of the input"), std::string::npos) << name << ": " << said;
    EXPECT_TRUE(whole_file(folder / "m.gguf") == bytes);
  }
  EXPECT_NE(
      refused(folder / "soft.gguf", folder / "hard.gguf", {.overwrite = true}).find("is part of the input"),
      std::string::npos);
  const std::string model = copy_of_model(kTinyModel, folder / "in");
  fs::create_directory_symlink("in", folder / "link");
  for (const char* name : {"in", "in/", "link"}) {
    const std::string said = refused(model, folder / name, {.overwrite = true});
    EXPECT_NE(said.find("is part of the input"), std::string::npos) << name << ": " << said;
  }
  fs::create_directory(folder / "other");
  fs::create_hard_link(model + "/config.json", folder / "other/config.json");
  EXPECT_NE(refused(model, folder / "other", {.overwrite = true}).find("is part of the input"),
            std::string::npos);
  EXPECT_EQ(whole_folder(model).size(), whole_folder(kTinyModel).size());
}

TEST(Places, ALinkToAnotherFileIsReplacedAndNotWrittenThrough) {
  const TemporaryFolder folder;
  folder.put("precious", "text");
  fs::create_symlink("precious", folder / "m.gguf");
  EXPECT_TRUE(converted(kTinyModel, folder / "m.gguf", {.overwrite = true}).finished);
  EXPECT_EQ(whole_file(folder / "precious"), "text");
}

TEST(Places, NamesThatAreNoneAreRefused) {
  const TemporaryFolder folder;
  for (const std::string& name :
       {std::string(), std::string("/"), std::string("."), folder / "..", folder / ".gguf"}) {
    EXPECT_NE(refused(kTinyModel, name), "accepted") << name;
  }
  EXPECT_NE(refused(kTinyModel, folder / "m.safetensors").find("are written as a folder"), std::string::npos);
  EXPECT_NE(refused(kTinyModel, folder / "no/m.gguf").find("there is no folder"), std::string::npos);
}

TEST(Places, ADiskWithoutRoomIsToldWithBothNumbers) {
  const TemporaryFolder folder;
  const Place place = place_of(folder / "m.gguf").value();
  const auto said = check_room(place, std::uint64_t{1} << 60);
  ASSERT_FALSE(said.ok());
  EXPECT_EQ(said.error().fault(), Fault::exhausted);
  EXPECT_NE(said.error().message().find("1152921504606846976 bytes are to be written, but only "),
            std::string::npos);
  EXPECT_TRUE(check_room(place, 1).ok());
}

}  // namespace
}  // namespace manyspan
