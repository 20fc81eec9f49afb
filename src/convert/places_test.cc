#include "convert/places.h"

#include <functional>
#include <unistd.h>
#include <utility>

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

// At the last byte, when the place has been looked at long ago.
ConvertOptions then(std::function<void()> act, ConvertOptions options = {}) {
  options.progress = [act, done = false](const ConvertProgress& p) mutable {
    if (p.done_bytes < p.total_bytes || std::exchange(done, true)) return;
    act();
  };
  return options;
}

TEST(Places, WhatComesThereMeanwhileIsNotReplaced) {
  const TemporaryFolder folder;
  const auto put = [&](const char* name) { return [&, name] { folder.put(name, "mine"); }; };
  EXPECT_NE(refused(kTinyModel, folder / "m.gguf", then(put("m.gguf"))).find("is there already"),
            std::string::npos);
  EXPECT_EQ(whole_file(folder / "m.gguf"), "mine");
  const auto put_folder = [&] {
    fs::create_directory(folder / "m");
    folder.put("m/thesis.txt", "mine");
  };
  EXPECT_NE(refused(kTinyModel, folder / "m", then(put_folder)), "accepted");
  EXPECT_EQ(whole_file(folder / "m/thesis.txt"), "mine");
}

TEST(Places, AnInputThatIsMovedThereMeanwhileIsNotReplaced) {
  const TemporaryFolder folder;
  converted(kTinyModel, folder / "in.gguf");
  const std::string bytes = whole_file(folder / "in.gguf");
  const auto move = [&](const char* from, const char* to) {
    return [&, from, to] { fs::rename(folder / from, folder / to); };
  };
  for (const bool overwrite : {false, true}) {
    const auto said =
        refused(folder / "in.gguf", folder / "m.gguf",
                then(move("in.gguf", "m.gguf"), {.quantize = StoredType::q8_0, .overwrite = overwrite}));
    EXPECT_NE(said, "accepted");
    EXPECT_TRUE(whole_file(folder / "m.gguf") == bytes);
    fs::rename(folder / "m.gguf", folder / "in.gguf");
    fs::remove_all(folder / "m.gguf.partial");
  }
  copy_of_model(kTinyModel, folder / "in");
  EXPECT_NE(refused(folder / "in", folder / "m", then(move("in", "m"), {.overwrite = true})), "accepted");
  EXPECT_EQ(whole_folder(folder / "m").size(), whole_folder(kTinyModel).size());
}

TEST(Places, TheInputIsNotDamagedFromThePartialFolderEither) {
  const TemporaryFolder folder;
  converted(kTinyModel, folder / "in.gguf");
  const std::string bytes = whole_file(folder / "in.gguf");
  const std::string partial = folder / "m.gguf.partial";
  const auto fresh = [&](const std::string& files) {
    fs::remove_all(partial);
    fs::create_directory(partial);
    if (!files.empty()) fs::create_directory(partial + "/" + files);
  };
  for (const bool restart : {false, true}) {
    for (const bool soft : {false, true}) {
      fresh("files");
      soft ? fs::create_symlink(folder / "in.gguf", partial + "/journal")
           : fs::create_hard_link(folder / "in.gguf", partial + "/journal");
      EXPECT_NE(refused(folder / "in.gguf", folder / "m.gguf", {.restart = restart}), "accepted");
      EXPECT_TRUE(whole_file(folder / "in.gguf") == bytes);
    }
    fresh("");
    folder.put("m.gguf.partial/journal", "");
    fs::create_directory(folder / "elsewhere");
    fs::create_directory_symlink(folder / "elsewhere", partial + "/files");
    EXPECT_NE(refused(folder / "in.gguf", folder / "m.gguf", {.restart = restart}), "accepted");
    EXPECT_TRUE(fs::is_empty(folder / "elsewhere"));
    fresh("files");
    folder.put("m.gguf.partial/journal", "");
    fs::copy(folder / "in.gguf", partial + "/files/m.gguf");
    EXPECT_NE(refused(partial + "/files/m.gguf", folder / "m.gguf", {.restart = restart}), "accepted");
    EXPECT_TRUE(whole_file(partial + "/files/m.gguf") == bytes);
  }
}

TEST(Places, AFolderOfTheNameThatNoConversionMadeIsNotThrownAway) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "my.partial/files");
  folder.put("my.partial/journal", "diary");
  folder.put("my.partial/files/photo.jpg", "mine");
  for (const bool restart : {false, true})
    EXPECT_NE(refused(kTinyModel, folder / "my", {.restart = restart}).find("no conversion left it"),
              std::string::npos);
  EXPECT_EQ(whole_file(folder / "my.partial/files/photo.jpg"), "mine");
  EXPECT_EQ(whole_file(folder / "my.partial/journal"), "diary");
}

TEST(Places, ASetOfAnotherNumberOfPartsIsThereAlreadyAndGoesWhenAsked) {
  const TemporaryFolder folder;
  converted(kTinyModel, folder / "m.gguf", {.shard_bytes = 600'000});
  folder.put("m-00001-of-x0004.gguf", "of another name");
  EXPECT_NE(refused(kTinyModel, folder / "m.gguf", {.shard_bytes = 1'200'000}).find("is there already"),
            std::string::npos);
  const ConvertReport fewer =
      converted(kTinyModel, folder / "m.gguf", {.shard_bytes = 1'200'000, .overwrite = true});
  EXPECT_EQ(whole_folder(folder.path()).size(), fewer.files.size() + 1);
  EXPECT_TRUE(Checkpoint::open(fewer.files[0]).ok());
  converted(kTinyModel, folder / "m.gguf", {.overwrite = true});
  EXPECT_EQ(whole_folder(folder.path()).size(), 2u);
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
