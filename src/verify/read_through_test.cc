#include "verify/read_through.h"

#include <filesystem>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "verify/scales_alone.h"
#include "verify/sha256.h"
#include "weights/tiny_checkpoint.h"

namespace manyspan {
namespace {

class ReadsThrough : public TinyCheckpoint {
 protected:
  // Of the checkpoint as it is now, which must assemble without its numbers being looked at.
  ReadThrough read(const ReadOptions& options = {}) {
    std::vector<TensorToWrite> all;
    for (const auto& [name, held] : tensors_) all.push_back({name, held.type, held.shape, held.data});
    EXPECT_TRUE(write_safetensors(file_, all).ok());
    container_.emplace(open_container(file_).value());
    auto weights = assemble(*container_, blueprint_, {.scan = false});
    EXPECT_TRUE(weights.ok()) << weights.error().message();
    return read_through(&*container_, weights.ok() ? &weights.value() : nullptr, {}, options).value();
  }

  std::string place(const std::string& tensor) const { return file_ + ": tensor " + tensor + ": "; }
};

TEST_F(ReadsThrough, ASoundCheckpointIsReadWhole) {
  const ReadThrough said = read();
  EXPECT_TRUE(said.findings.empty());
  std::int64_t bytes = 0;
  for (const auto& [name, held] : tensors_) bytes += static_cast<std::int64_t>(held.data.size());
  EXPECT_EQ(said.bytes, bytes);
  EXPECT_EQ(said.bad, 0);
  EXPECT_GT(said.scales, 0);
  EXPECT_GT(said.values, said.scales);
}

TEST_F(ReadsThrough, EveryKindOfBadNumberIsFoundCountedAndShown) {
  auto& norm = tensors_.at("norm.weight").data;  // BF16
  norm[2 * 3] = std::byte{0xc0}, norm[2 * 3 + 1] = std::byte{0x7f};
  norm[2 * 9] = std::byte{0x80}, norm[2 * 9 + 1] = std::byte{0xff};
  tensors_.at("layers.5.attn.wq_a.weight").data[65] = std::byte{0x7f};
  tensors_.at("layers.5.attn.wq_a.scale").data[1] = std::byte{0xff};
  tensors_.at("layers.5.ffn.experts.3.w2.scale").data[0] = std::byte{253};
  const std::size_t last =
      tensors_.at("layers.3.engram.embed.weight").data.size() - 1;  // which loading leaves out
  tensors_.at("layers.3.engram.embed.weight").data[last] = std::byte{0xff};
  std::vector<std::string> texts[2];
  for (const int threads : {1, 4}) {
    const ReadThrough said = read({.threads = threads});
    EXPECT_EQ(said.bad, 6);
    for (const Finding& f : said.findings) {
      texts[threads == 4].push_back(f.text);
      EXPECT_EQ(f.count, f.text.starts_with(place("norm.weight")) ? 2 : 1) << f.text;
    }
  }
  EXPECT_EQ(texts[0], texts[1]);
  const auto found = [&](const std::string& text) {
    return std::count(texts[0].begin(), texts[0].end(), text);
  };
  EXPECT_EQ(texts[0].size(), 5u);
  EXPECT_EQ(found(place("norm.weight") + "number 3 at [3] is NaN or infinite (0x7fc0 = nan)"), 1);
  EXPECT_EQ(found(place("layers.5.attn.wq_a.weight") + "code 65 at [1, 1] is NaN (0x7f)"), 1);
  EXPECT_EQ(found(place("layers.5.attn.wq_a.scale") + "scale 1 at [0, 1] is NaN (0xff)"), 1);
  EXPECT_EQ(found(place("layers.5.ffn.experts.3.w2.scale") +
                  "scale 0 at [0, 0] is above 2^125: F32 does not hold its product with 6, the largest FP4 "
                  "code (0xfd)"),
            1);
}

TEST_F(ReadsThrough, ATensorOfNothingElseIsCountedToALimit) {
  auto& table = tensors_.at("layers.3.engram.embed.weight").data;
  std::fill(table.begin(), table.end(), std::byte{0xff});
  const ReadThrough said = read();
  ASSERT_EQ(said.findings.size(), 1u);
  EXPECT_EQ(said.findings[0].more, table.size() > 4096);
  EXPECT_EQ(said.findings[0].count, static_cast<std::int64_t>(std::min<std::size_t>(table.size(), 4096)));
}

TEST_F(ReadsThrough, WhatWasNeverWrittenIsNoted) {
  auto& codes = tensors_.at("layers.3.engram.embed.weight").data;
  ASSERT_GE(codes.size(), 4096u);
  std::fill(codes.begin(), codes.end(), std::byte{0});
  const ReadThrough said = read();
  EXPECT_TRUE(said.findings.empty());
  ASSERT_EQ(said.warnings.size(), 1u);
  EXPECT_SAYS(said.warnings[0], place("layers.3.engram.embed.weight") + "nothing but zeros");
}

TEST_F(ReadsThrough, ASampleReadsLessAndAllScales) {
  const ReadThrough whole = read(), some = read({.sample = 0.01});
  EXPECT_EQ(some.scales, whole.scales);
  EXPECT_LE(some.bytes, whole.bytes);
  tensors_.at("layers.5.attn.wq_a.scale").data[3] = std::byte{0xff};
  EXPECT_EQ(read({.sample = 0.01}).findings.size(), 1u);
}

TEST_F(ReadsThrough, AFileThatBecomesShorterIsAFindingAndNoCrash) {
  read();
  std::filesystem::resize_file(file_, std::filesystem::file_size(file_) / 2);
  const ReadThrough said = read_through(&*container_, nullptr, {}, {.threads = 3}).value();
  ASSERT_EQ(said.findings.size(), 1u);
  EXPECT_SAYS(said.findings[0].text, file_ + ": ");
  EXPECT_SAYS(said.findings[0].text, "but the file ends at");
}

TEST_F(ReadsThrough, HashesAreThoseOfWholeFilesOnAnyThreads) {
  const TemporaryFolder folder;
  std::string large(9 << 20, 'x');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * i >> 7);
  const std::string other = folder.put("large", large), absent = folder / "none";
  read();
  const auto whole = read_file(file_, 64 << 20).value();
  Sha256 first, second;
  first.add(bytes_of(whole));
  second.add(bytes_of(large));
  const std::vector<std::string> expected = {second.hex(), first.hex(), "", ""};
  auto again = expected;
  again[3] = expected[0];
  for (const int threads : {1, 2, 7}) {
    const auto said =
        read_through(&*container_, nullptr, {other, file_, absent, other}, {.threads = threads}).value();
    EXPECT_EQ(said.hashes, again) << threads;
    ASSERT_EQ(said.findings.size(), 1u);
    EXPECT_SAYS(said.findings[0].text, absent);
    EXPECT_EQ(said.bytes, static_cast<std::int64_t>(whole.size() + large.size()));
  }
}

TEST_F(ReadsThrough, ItCanBeCancelled) {
  read();
  Cancel cancel;
  cancel.request();
  const auto said = read_through(&*container_, nullptr, {file_}, {.threads = 2, .cancel = &cancel});
  ASSERT_FALSE(said.ok());
  EXPECT_EQ(said.error().fault(), Fault::invalid);
}

TEST_F(ReadsThrough, WithoutAConfigurationFp8StillNeedsFittingScales) {
  read();
  EXPECT_TRUE(faults_of_scales(*container_).empty());
  tensors_.erase("layers.5.attn.wq_a.scale");
  tensors_.at("layers.5.attn.wq_b.scale").shape.push_back(1);
  std::vector<TensorToWrite> all;
  for (const auto& [name, held] : tensors_) all.push_back({name, held.type, held.shape, held.data});
  ASSERT_TRUE(write_safetensors(file_, all).ok());
  const auto container = open_container(file_).value();
  const auto faults = faults_of_scales(container);
  ASSERT_EQ(faults.size(), 2u);
  EXPECT_SAYS(faults[0], place("layers.5.attn.wq_a.weight") + "no scale, which F8_E4M3 [");
  EXPECT_SAYS(faults[1], place("layers.5.attn.wq_b.scale") + "scale is F8_E8M0 [");
}

TEST_F(ReadsThrough, EveryFaultOfAssemblyIsToldApart) {
  for (int e = 0; e < 8; ++e) {
    for (const std::string w : {"w1", "w2", "w3"})
      tensors_.erase("layers.5.ffn.experts." + std::to_string(e) + "." + w + ".weight");
  }
  tensors_["layers.5.attn.wq_c.weight"] = tensors_.at("norm.weight");
  std::vector<TensorToWrite> all;
  for (const auto& [name, held] : tensors_) all.push_back({name, held.type, held.shape, held.data});
  ASSERT_TRUE(write_safetensors(file_, all).ok());
  const auto container = open_container(file_).value();
  std::vector<std::string> faults;
  const auto weights = assemble(container, blueprint_, {.scan = false, .faults = &faults});
  ASSERT_FALSE(weights.ok());
  EXPECT_SAYS(weights.error().message(), "and 16 more");
  ASSERT_EQ(faults.size(), 25u);
  EXPECT_EQ(faults[0], file_ + ": missing tensor layers.5.ffn.experts.0.w1.weight (expert gate)");
  EXPECT_EQ(faults[24],
            file_ + ": tensor layers.5.attn.wq_c.weight: unexpected; the model has no such weight");
}

}  // namespace
}  // namespace manyspan
