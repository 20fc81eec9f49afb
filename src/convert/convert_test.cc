#include "convert/convert.h"

#include "convert/convert_trial.h"
#include "engine/gguf_trial.h"
#include "weights/plain.h"

namespace manyspan {
namespace {

const std::string kModels[] = {kTinyModel, MANYSPAN_SOURCE_DIR "/tests/data/t2_multi",
                               MANYSPAN_SOURCE_DIR "/tests/data/t3_long", kBundledModel};

// Every number of every slot. Counts the matrices whose codes are the same bytes.
int expect_same_numbers(const Weights& a, const Weights& b) {
  int same_bytes = 0;
  for (const Slot& slot : a.slots()) {
    for (std::int32_t e = 0; e < slot.matrices && a.find(slot.role, slot.layer) != nullptr; ++e) {
      const MatrixSource &x = a.at(slot.role, slot.layer, e), &y = b.at(slot.role, slot.layer, e);
      const PlainMatrix p = plain_matrix(x), q = plain_matrix(y);
      std::vector<float> one(static_cast<std::size_t>(x.cols)), other(one.size());
      for (std::int64_t r = 0; r < x.rows; ++r) {
        values(p.weight, r, 0, x.cols, one.data());
        values(q.weight, r, 0, x.cols, other.data());
        EXPECT_EQ(one, other) << x.place << " row " << r;
        if (one != other) return 0;
      }
      same_bytes += std::equal(x.codes.begin(), x.codes.end(), y.codes.begin(), y.codes.end());
    }
  }
  return same_bytes;
}

TEST(Convert, ThereAndBackKeepsEveryNumberAndTheBytesOf4BitCodesAndTables) {
  for (const std::string& model : kModels) {
    const TemporaryFolder folder;
    const ConvertReport there = converted(model, folder / "m.gguf");
    ASSERT_TRUE(there.finished);
    EXPECT_EQ(there.files, std::vector{folder / "m.gguf"});
    EXPECT_EQ(there.bytes, std::filesystem::file_size(folder / "m.gguf"));
    EXPECT_FALSE(std::filesystem::exists(folder / "m.gguf.partial"));
    const auto before = Checkpoint::open(model).value(), gguf = Checkpoint::open(folder / "m.gguf").value();
    expect_same_numbers(before->weights, gguf->weights);
    converted(folder / "m.gguf", folder / "back/");
    const auto after = Checkpoint::open(folder / "back").value();
    const int same = expect_same_numbers(before->weights, after->weights);
    EXPECT_GE(same, before->blueprint.layers * before->blueprint.experts * 3);
    EXPECT_EQ(after->warnings, std::vector<std::string>());
    EXPECT_EQ(after->tokenizer.has_value(), before->tokenizer.has_value());
    for (const Slot& slot : before->weights.slots()) {
      if (before->weights.find(slot.role, slot.layer) == nullptr) continue;
      const MatrixSource &x = before->weights.at(slot.role, slot.layer),
                         &y = after->weights.at(slot.role, slot.layer);
      EXPECT_EQ(y.encoding, x.encoding == Encoding::fp8_block32 ? Encoding::bf16 : x.encoding) << x.place;
    }
  }
}

TEST(Convert, TheReportCountsWhatBecameWhat) {
  const TemporaryFolder folder;
  const ConvertReport report = converted(kBundledModel, folder / "m.gguf");
  std::int64_t matrices = 0;
  bool doubled = false, kept = false;
  for (const ConvertedKind& kind : report.kinds) {
    matrices += kind.matrices;
    if (kind.from == "FP8 32x32" && kind.to == "BF16") doubled = kind.bytes_after > kind.bytes_before;
    if (kind.from == "MXFP4" && kind.to == "MXFP4") kept = kind.bytes_after == kind.bytes_before;
  }
  EXPECT_TRUE(doubled);
  EXPECT_TRUE(kept);
  EXPECT_EQ(matrices, 573);
  EXPECT_EQ(converted(kTinyModel, folder / "t.gguf").notes,
            std::vector<std::string>{"left out: the draft model's tensors"});
}

TEST(Convert, SafetensorsWrittenAgainKeepFp8AsItIs) {
  const TemporaryFolder folder;
  converted(kBundledModel, folder / "same");
  const auto before = Checkpoint::open(kBundledModel).value(),
             after = Checkpoint::open(folder / "same").value();
  EXPECT_EQ(expect_same_numbers(before->weights, after->weights), 573);
  EXPECT_EQ(whole_file(folder / "same/generation_config.json"),
            whole_file(kBundledModel + "/generation_config.json"));
  EXPECT_EQ(whole_file(folder / "same/tokenizer.json"), whole_file(kBundledModel + "/tokenizer.json"));
}

TEST(Convert, WhatAModelSaysOfSamplingAndThinkingGoesAlong) {
  const TemporaryFolder folder;
  converted(kBundledModel, folder / "m.gguf");
  converted(folder / "m.gguf", folder / "again.gguf");
  converted(folder / "again.gguf", folder / "back");
  EXPECT_EQ(whole_file(folder / "back/generation_config.json"),
            whole_file(kBundledModel + "/generation_config.json"));
  const GenerationDefaults before = Checkpoint::open(kBundledModel).value()->defaults;
  ASSERT_TRUE(before.thinking_said);
  for (const char* name : {"m.gguf", "again.gguf", "back"}) {
    const GenerationDefaults after = Checkpoint::open(folder / name).value()->defaults;
    EXPECT_EQ(after.thinking, before.thinking);
    EXPECT_EQ(after.temperature, before.temperature);
    EXPECT_EQ(after.thinking_said, before.thinking_said);
  }
}

// One projection of one layer is of another type, first or last, so that config.json can say no one type for all.
TEST(Convert, ExpertsOfSeveralTypesMakeAFolderThatOpens) {
  for (const LayerId layer : {LayerId{0}, LayerId{3}}) {
    const TemporaryFolder folder;
    const auto official = Checkpoint::open(kBundledModel).value();
    GgufCopy copy(official->weights, false);
    const Encoding q8 = Encoding::q8_0;
    int changed = 0;
    for (OwnedTensor& t : copy.tensors) {
      const bool experts = t.name.find("_exps.") != std::string::npos;
      if (!experts) continue;
      const bool other = t.name == gguf_name(Role::expert_w1, layer);
      const StoredType type = other ? StoredType::q8_0 : StoredType::mxfp4_ggml;
      std::int64_t elements = 1;
      for (const std::int64_t dim : t.shape) elements *= dim;
      t.type = type;
      t.data.assign(static_cast<std::size_t>(elements / 32 * block_of(type).bytes), std::byte{0});
      changed += other;
    }
    ASSERT_EQ(changed, 1);
    const std::string path = copy.write(folder / "m", gguf_keys_of(kBundledModel, *official, false));
    converted(path, folder / "back");
    const auto back = Checkpoint::open(folder / "back");
    ASSERT_TRUE(back.ok()) << back.error().message();
    EXPECT_EQ(back.value()->weights.at(Role::expert_w2, layer).encoding, Encoding::mxfp4);
    EXPECT_NE(back.value()->weights.at(Role::expert_w1, layer).encoding, q8);
  }
}

TEST(Convert, NoFileIsLargerThanAskedUnlessATensorIs) {
  const TemporaryFolder folder;
  constexpr std::uint64_t kMost = 600'000;
  const ConvertReport gguf = converted(kTinyModel, folder / "m.gguf", {.shard_bytes = kMost}),
                      shards = converted(kTinyModel, folder / "m", {.shard_bytes = kMost});
  EXPECT_GE(gguf.files.size(), 4u);
  EXPECT_TRUE(gguf.files[0].ends_with("m-00001-of-0000" + std::to_string(gguf.files.size()) + ".gguf"));
  EXPECT_FALSE(std::filesystem::exists(folder / "m.gguf"));
  for (const ConvertReport& report : {gguf, shards}) {
    for (const std::string& file : report.files)
      EXPECT_LE(std::filesystem::file_size(file), kMost + 64'000) << file;
  }
  EXPECT_TRUE(Checkpoint::open(gguf.files[0]).ok());
  EXPECT_TRUE(Checkpoint::open(folder / "m").ok());
  EXPECT_TRUE(std::filesystem::exists(folder / "m/model.safetensors.index.json"));
}

TEST(Convert, WhatAGgufCannotSayIsRefusedByName) {
  const TemporaryFolder folder;
  const std::string model = copy_of_model(kTinyModel, folder / "in");
  std::string config = whole_file(model + "/config.json");
  config.insert(config.find("\"n_routed_experts\""), "\"gate_temp\": 2.0, ");
  folder.put("in/config.json", config);
  EXPECT_NE(refused(model, folder / "m.gguf").find("config.json's gate_temp is 2"), std::string::npos)
      << refused(model, folder / "m.gguf");
  EXPECT_FALSE(std::filesystem::exists(folder / "m.gguf.partial"));
  EXPECT_EQ(refused(model, folder / "m"), "accepted");
}

TEST(Convert, ANumberThatIsNoneIsRefusedWithItsPlace) {
  const TemporaryFolder folder;
  const std::string model = copy_of_model(kBundledModel, folder / "in");
  const auto opened = Checkpoint::open(model).value();
  const StoredTensor& t = *opened->container->find("layers.3.attn.wq_a.weight");
  std::string bytes = whole_file(model + "/model.safetensors");
  bytes[t.offset + 5] = '\x7f';
  folder.put("in/model.safetensors", bytes);
  const std::string said = refused(model, folder / "m.gguf");
  EXPECT_NE(said.find("layers.3.attn.wq_a.weight"), std::string::npos) << said;
  EXPECT_NE(said.find("NaN"), std::string::npos) << said;
  EXPECT_FALSE(std::filesystem::exists(folder / "m.gguf"));
}

}  // namespace
}  // namespace manyspan
