// convert as a user has it: what it prints, its exit statuses, Ctrl-C, and how much memory it takes.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "engine/checkpoint.h"
#include "spec/engram_map.h"
#include "tests/cli/program.h"

namespace manyspan::tests {
namespace {

namespace fs = std::filesystem;

const std::string kBundled = MANYSPAN_SOURCE_DIR "/models/first-light";
const std::string kTiny = MANYSPAN_SOURCE_DIR "/tests/data/t1_base";

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(CliConvert, GoesThereAndBackAndEveryCopyAnswersAlike) {
  const TemporaryFolder folder;
  const Ran there = run({"convert", kBundled, folder / "m.gguf"});
  ASSERT_EQ(there.status, 0) << there.err;
  EXPECT_EQ(there.err, "");
  EXPECT_TRUE(says(there.out, "FP8 32x32")) << there.out;
  EXPECT_TRUE(says(there.out, "wrote " + folder / "m.gguf" + "\n")) << there.out;
  const Ran back = run({"convert", folder / "m.gguf", folder / "back", "--shard-size", "4MB", "--json"});
  ASSERT_EQ(back.status, 0) << back.err;
  const auto report = nlohmann::json::parse(back.out);
  EXPECT_GE(report["files"].size(), 7u);
  EXPECT_EQ(report["resumed_bytes"], 0);
  std::string expected;
  for (const std::string& model : {kBundled, folder / "m.gguf", folder / "back"}) {
    const Ran answer = run({"run", model, "--raw", "-p", "In the beginning", "--temperature", "0",
                            "--max-tokens", "12", "--quiet"});
    EXPECT_EQ(answer.status, 0) << answer.err;
    if (model == kBundled) expected = answer.out;
    EXPECT_EQ(answer.out, expected) << model;
    const Ran shown = run({"inspect", model});
    EXPECT_EQ(shown.status, 0) << shown.err;
    EXPECT_FALSE(says(shown.out, "no whole model")) << shown.out;
    EXPECT_FALSE(says(shown.out, "is not known")) << shown.out;
  }
}

TEST(CliConvert, SaysWhatIsLeftOutAndWhatStaysFiner) {
  const TemporaryFolder folder;
  const Ran ran = run({"convert", kTiny, folder / "m.gguf", "--quantize", "q8_0"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(says(ran.out, "left out: the draft model's tensors")) << ran.out;
  EXPECT_TRUE(says(ran.out, "not Q8_0: ")) << ran.out;
  EXPECT_TRUE(says(ran.out, "router: a model may not store it so coarsely")) << ran.out;
}

TEST(CliConvert, WrongUsageIsStatus2AndAnInputThatIsNoneStatus3) {
  const TemporaryFolder folder;
  const auto status = [&](std::vector<std::string> arguments, const std::string& part) {
    const Ran ran = run(arguments);
    EXPECT_TRUE(says(ran.err, part)) << ran.err;
    EXPECT_EQ(ran.out, "");
    return ran.status;
  };
  EXPECT_EQ(status({"convert", kTiny}, "name a model and where"), 2);
  EXPECT_EQ(status({"convert", kTiny, kTiny, "--overwrite"}, "is part of the input"), 2);
  EXPECT_EQ(status({"convert", kTiny, folder / "m.safetensors"}, "are written as a folder"), 2);
  for (const char* size : {"5X", "-1", "1K", "nan", "5GG", "1e300"})
    EXPECT_EQ(status({"convert", kTiny, folder / "m", "--shard-size", size}, "--shard-size"), 2) << size;
  EXPECT_EQ(status({"convert", kTiny, folder / "m", "--quantize", "Q9"}, "Q9"), 2);
  EXPECT_EQ(status({"convert", kTiny, folder / "m", "--quantize", "Q8_0"}, "safetensors have no Q8_0"), 2);
  EXPECT_EQ(status({"convert", folder / "none", folder / "m"}, "No such file"), 3);
  EXPECT_EQ(status({"convert", MANYSPAN_SOURCE_DIR "/tests/data/hostile/gg_data_cut.gguf", folder / "m"},
                   "gg_data_cut"),
            3);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 0);
}

// t1 with an Engram table of many rows, which is a hole in its file.
std::string with_large_table(const std::string& folder, std::int64_t& table_bytes) {
  fs::copy(kTiny, folder);
  fs::remove(folder + "/golden.safetensors");  // without an index every file counts
  const auto opened = Checkpoint::open(kTiny).value();
  const EngramNumbers& e = opened->blueprint.engram;
  constexpr std::int64_t kVocabulary = 900'000;
  Json rows = Json::Array{};
  std::vector<std::int64_t> counts;
  for (const auto& primes : engram_primes(e.layers.size(), e.max_ngram, e.heads, kVocabulary)) {
    std::int64_t sum = 0;
    for (const std::int64_t prime : primes) sum += prime;
    rows.push(sum), counts.push_back(sum);
  }
  Json config = parse_json(read_file(kTiny + "/config.json", 1 << 20).value()).value(),
       text = *config.find("text_config");
  text.set("engram_num_embeddings", rows);
  text.set("engram_vocab_size", kVocabulary);
  config.set("text_config", text);
  std::ofstream(folder + "/config.json") << compact_json(config);
  fs::remove(folder + "/model.safetensors.index.json");
  // The tables move out of the last file, which loses them by name only: a file of their own has the new ones.
  Json header = Json::Object{};
  std::int64_t at = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::string stem = "layers." + std::to_string(e.layers[i]) + ".engram.embed.";
    for (const auto& [suffix, type, cols] : {std::tuple{"weight", "F8_E4M3", std::int64_t{e.head_dim}},
                                             {"scale", "F8_E8M0", std::int64_t{e.head_dim} / 32}}) {
      Json tensor = Json::Object{};
      tensor.set("dtype", type);
      tensor.set("shape", Json::Array{counts[i], cols});
      tensor.set("data_offsets", Json::Array{at, at + counts[i] * cols});
      header.set(stem + suffix, tensor);
      at += counts[i] * cols;
    }
  }
  table_bytes = at;
  const std::string front = compact_json(header), path = folder + "/tables.safetensors";
  const std::uint64_t length = front.size();
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(&length), 8) << front;
  fs::resize_file(path, 8 + front.size() + static_cast<std::uintmax_t>(at));
  return folder;
}

// Renames tensors in a header without moving anything: the old tables become parts of a draft model.
void hide_old_tables(const std::string& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".safetensors" || entry.path().filename() == "tables.safetensors")
      continue;
    std::string bytes = read_file(entry.path().string(), 1 << 28).value();
    for (const std::string name :
         {"layers.1.engram.embed.", "layers.4.engram.embed.", "layers.3.engram.embed."}) {
      for (std::size_t at = bytes.find(name); at != std::string::npos; at = bytes.find(name, at + 1))
        bytes.replace(at, name.size(), "mtp.0." + name.substr(6));
    }
    std::ofstream(entry.path(), std::ios::binary) << bytes;
  }
}

TEST(CliConvertSlow, TakesFarLessMemoryThanTheModelAndGoesOnAfterCtrlC) {
  const TemporaryFolder folder;
  std::int64_t table_bytes = 0;
  const std::string model = with_large_table(folder / "in", table_bytes), out = folder / "m.gguf";
  hide_old_tables(model);
  ASSERT_GT(table_bytes, std::int64_t{300} << 20);
  // Memory that a process asks for itself, mappings of files left out.
  const std::string limited = "ulimit -d 160000; exec \"$0\" convert " + model + " ";
  // Ctrl-C once some of the result is there; a machine so quick that all of it is gets another try.
  const std::string until =
      " & while kill -0 $! && n=$(du -B1 -s " + out +
      ".partial/files 2>/dev/null | cut -f1) && [ ${n:-0} -lt 10000000 ]; do sleep 0.002; done "
      "2>/dev/null; kill -INT $! 2>/dev/null; wait $!";
  Ran stopped{};
  for (int tries = 0; tries < 5 && stopped.status != 130; ++tries) {
    fs::remove(out);
    stopped = run_shell("\"$0\" convert " + model + " " + out + until);
  }
  ASSERT_EQ(stopped.status, 130) << stopped.err;
  EXPECT_FALSE(fs::exists(out));
  ASSERT_TRUE(fs::exists(out + ".partial/journal"));
  const Ran ran = run_shell(limited + out + " --json");
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_GT(nlohmann::json::parse(ran.out)["resumed_bytes"], 1'000'000);
  EXPECT_GT(fs::file_size(out), static_cast<std::uintmax_t>(table_bytes));
  const Ran back = run_shell("ulimit -d 160000; exec \"$0\" convert " + out + " " + folder / "back");
  EXPECT_EQ(back.status, 0) << back.err;
  EXPECT_TRUE(Checkpoint::open(folder / "back").ok());
}

}  // namespace
}  // namespace manyspan::tests
