#include "convert/convert_trial.h"

namespace manyspan {
namespace {

namespace fs = std::filesystem;

// Converts until `share` of the bytes are written, as Ctrl-C would end it there.
ConvertReport interrupted(const std::string& in, const std::string& out, double share,
                          ConvertOptions options = {}) {
  Cancel cancel;
  options.cancel = &cancel;
  options.progress = [&](const ConvertProgress& p) {
    if (static_cast<double>(p.done_bytes) >= share * static_cast<double>(p.total_bytes)) cancel.request();
  };
  return converted(in, out, options);
}

class Resuming : public testing::TestWithParam<const char*> {
 protected:
  std::string out() const { return folder_ / GetParam(); }
  // What an uninterrupted conversion gives, by file.
  std::map<std::string, std::string> right(const ConvertOptions& options = {}) const {
    fs::create_directory(folder_ / "right");
    converted(kBundledModel, folder_ / "right/" + GetParam(), options);
    const std::string folder = folder_ / "right/" + GetParam();
    return whole_folder(fs::is_directory(folder) ? folder : folder_ / "right");
  }
  std::map<std::string, std::string> made() const {
    if (fs::is_directory(out())) return whole_folder(out());
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      if (entry.is_regular_file())
        files[entry.path().filename().string()] = whole_file(entry.path().string());
    }
    return files;
  }
  TemporaryFolder folder_;
};

TEST_P(Resuming, WhatWasWrittenIsTakenUpAndTheResultIsTheSame) {
  const ConvertOptions options{.shard_bytes = 3'000'000};
  const ConvertReport first = interrupted(kBundledModel, out(), 0.5, options);
  EXPECT_FALSE(first.finished);
  EXPECT_TRUE(first.files.empty());
  EXPECT_TRUE(fs::exists(out() + ".partial/journal"));
  const ConvertReport second = converted(kBundledModel, out(), options);
  EXPECT_TRUE(second.finished);
  EXPECT_GE(second.resumed_bytes, second.bytes * 2 / 5);
  EXPECT_FALSE(fs::exists(out() + ".partial"));
  EXPECT_TRUE(made() == right(options));
}

TEST_P(Resuming, BytesThatAreNotAsTheyWereLeftAreMadeAgain) {
  interrupted(kBundledModel, out(), 0.6);
  for (const auto& entry : fs::directory_iterator(out() + ".partial/files")) {
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(100'000);
    file.put('!');
  }
  const ConvertReport second = converted(kBundledModel, out());
  EXPECT_EQ(second.resumed_bytes, 0u);
  EXPECT_TRUE(made() == right());
}

// Whatever was put in the place of a half-written file, nothing is written through it.
TEST_P(Resuming, NothingIsWrittenThroughALink) {
  const std::string other = folder_ / "somebody_elses";
  std::ofstream(other, std::ios::binary) << "precious";
  for (const bool soft : {true, false}) {
    interrupted(kBundledModel, out(), 0.6, {.restart = true});
    for (const auto& entry : fs::directory_iterator(out() + ".partial/files")) {
      fs::remove(entry.path());
      soft ? fs::create_symlink(other, entry.path()) : fs::create_hard_link(other, entry.path());
    }
    EXPECT_NE(refused(kBundledModel, out()).find(out() + ".partial/files/"), std::string::npos);
    EXPECT_EQ(whole_file(other), "precious");
  }
}

TEST(Converting, AConfigurationThatContradictsItselfIsAFaultOfTheFile) {
  const TemporaryFolder folder;
  const std::string model = copy_of_model(kTinyModel, folder / "model");
  std::string config = whole_file(model + "/config.json");
  const std::string layers = "\"num_hidden_layers\": 10";
  ASSERT_NE(config.find(layers), std::string::npos);
  config.replace(config.find(layers), layers.size(), "\"num_hidden_layers\": 11");
  std::ofstream(model + "/config.json", std::ios::binary) << config;
  const auto report = convert(model, folder / "m.gguf");
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().fault(), Fault::corrupt) << report.error().message();
}

TEST_P(Resuming, AJournalThatWasCutOffOrLiesAboutTheLengthIsNotTrusted) {
  interrupted(kBundledModel, out(), 0.6);
  const std::string journal = out() + ".partial/journal", text = whole_file(journal);
  std::ofstream(journal, std::ios::binary)
      << text << "{\"file\":\"model.safetensors\",\"bytes\":99999999999,\"crc32c\":1}\n{\"fi";
  EXPECT_TRUE(converted(kBundledModel, out()).finished);
  EXPECT_TRUE(made() == right());
}

TEST_P(Resuming, AnotherInputOrOtherOptionsAreRefusedUntilTheOldWorkIsThrownAway) {
  interrupted(kBundledModel, out(), 0.5);
  EXPECT_NE(refused(kTinyModel, out())
                .find("holds an unfinished conversion of another input or with other options"),
            std::string::npos);
  EXPECT_NE(refused(kBundledModel, out(), {.shard_bytes = 1'000'000}).find("give --restart"),
            std::string::npos);
  const ConvertReport fresh = converted(kBundledModel, out(), {.shard_bytes = 1'000'000, .restart = true});
  EXPECT_TRUE(fresh.finished);
  EXPECT_EQ(fresh.resumed_bytes, 0u);
  EXPECT_TRUE(made() == right({.shard_bytes = 1'000'000}));
}

TEST_P(Resuming, AFolderThatNoConversionLeftIsNotTouched) {
  fs::create_directory(out() + ".partial");
  std::ofstream(out() + ".partial/mine") << "text";
  EXPECT_NE(refused(kBundledModel, out(), {.restart = true}).find("no conversion left it"),
            std::string::npos);
  EXPECT_EQ(whole_file(out() + ".partial/mine"), "text");
}

INSTANTIATE_TEST_SUITE_P(Containers, Resuming, testing::Values("m.gguf", "model"),
                         [](const auto& info) { return info.index == 0 ? "Gguf" : "Safetensors"; });

}  // namespace
}  // namespace manyspan
