// Published GGUF files, in miniature: each role stored as they store it, and what no file may store so coarsely.

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "spec/precision.h"
#include "weights/assemble.h"
#include "weights/plain.h"
#include "weights/published_trial.h"

namespace manyspan {
namespace {

class Published : public ::testing::Test {
 protected:
  Published() : blueprint_(read_blueprint(kWideConfig).value()) {
    blueprint_.quantization = {};
    blueprint_.quantization.method = "none";
  }

  Result<Weights> assembled(const std::vector<OwnedTensor>& tensors) {
    std::vector<TensorToWrite> all;
    for (const OwnedTensor& t : tensors) all.push_back({t.name, t.type, t.shape, t.data});
    const std::string path = folder_ / "m.gguf";
    TRY(write_gguf(path, {}, all));
    container_.emplace(TRY(open_container(path)));
    return assemble(*container_, blueprint_);
  }

  // The first published file with one role stored otherwise.
  std::string refusal(Role role, T type) {
    std::vector<OwnedTensor> tensors = published(blueprint_, kPublished[0]);
    for (const Slot& slot : slots_of(blueprint_)) {
      const std::string name = gguf_name(slot.role, slot.layer);
      if (slot.role != role) continue;
      for (OwnedTensor& t : tensors) {
        if (t.name == name) t = scattered(slot, name, type, 7);
      }
    }
    auto made = assembled(tensors);
    return made.ok() ? "accepted" : made.error().message();
  }

  TemporaryFolder folder_;
  Blueprint blueprint_;
  std::optional<Container> container_;
};

TEST_F(Published, EveryFileFillsEverySlotAsItIsStored) {
  for (const PublishedFile& file : kPublished) {
    auto made = assembled(published(blueprint_, file));
    ASSERT_TRUE(made.ok()) << file.name << ": " << made.error().message();
    const Weights weights = std::move(made).value();
    for (const Slot& slot : weights.slots()) {
      if (slot.capability != Capability::text) continue;
      const MatrixSource& m = weights.at(slot.role, slot.layer, slot.matrices - 1);
      const T type = file.type(slot.role);
      const std::string said(name(m.encoding)), stored(name(type));
      EXPECT_TRUE(type == T::i8 ? said == "row264" : said.starts_with(stored))
          << file.name << ": " << name(slot.role) << ": " << said << ", " << stored;
      const PlainMatrix plain = plain_matrix(m);
      EXPECT_TRUE(std::isfinite(value(plain.weight, m.rows - 1, m.cols - 1)));
    }
  }
}

TEST(PublishedCounts, TheFirstFilesTypesAreAsCounted) {
  std::ifstream in(MANYSPAN_SOURCE_DIR "/tests/data/configs/release.json");
  std::stringstream text;
  text << in.rdbuf();
  std::map<T, int> counts;
  for (const Slot& slot : slots_of(read_blueprint(text.str()).value()))
    ++counts[kPublished[0].type(slot.role)];
  EXPECT_EQ(counts[T::mxfp4_ggml], 120);
  EXPECT_EQ(counts[T::q8_0], 332);
  EXPECT_EQ(counts[T::bf16], 65);
  EXPECT_EQ(counts[T::f32], 529);
}

TEST_F(Published, WhatSuffersIsSaidOnceForEachKind) {
  const auto warnings = [&](std::size_t file) {
    return assembled(published(blueprint_, kPublished[file])).value().warnings();
  };
  EXPECT_TRUE(warnings(0).empty());
  ASSERT_STREQ(kPublished[5].name, "antirez Q2");
  const std::string at = folder_ / "m.gguf" + ": tensor blk.0.";
  EXPECT_EQ(
      warnings(5),
      (std::vector<std::string>{
          at + "hc_attn_fn.weight and 5 more: attention mix stored as F16: its rounding enters every "
               "stream twice a layer",
          at + "hc_ffn_fn.weight and 5 more: expert mix stored as F16: its rounding enters every stream "
               "twice a layer",
          at + "ffn_gate_exps.weight[0] and 23 more: expert gate stored as IQ2_XXS: answers are worse "
               "than the model's own",
          at + "ffn_down_exps.weight[0] and 23 more: expert down stored as Q2_K: answers are worse than "
               "the model's own",
          at + "ffn_up_exps.weight[0] and 23 more: expert up stored as IQ2_XXS: answers are worse than "
               "the model's own"}));
  ASSERT_STREQ(kPublished[8].name, "vcruz Q2_K");
  std::string all;
  for (const std::string& warning : warnings(8)) all += warning + "\n";
  for (const char* part :
       {"embedding stored as Q4_K: every token begins with its rounding",
        "Engram table stored as Q2_K: what Engram recalls is rounded",
        "compressor stored as Q3_K: which rows are read depends on it, and rounding changes the choice",
        "index key stored as Q3_K: which rows", "query up stored as Q2_K: every token passes through it"}) {
    EXPECT_NE(all.find(part), std::string::npos) << part << " in\n" << all;
  }
}

TEST_F(Published, FloorsHold) {
  const std::string file = folder_ / "m.gguf";
  EXPECT_EQ(refusal(Role::attention_mix_fn, T::f16), "accepted");
  for (const T type : {T::bf16, T::q8_0}) {
    EXPECT_NE(refusal(Role::attention_mix_fn, type).find("attention mix may not be stored as"),
              std::string::npos);
    EXPECT_NE(refusal(Role::expert_mix_fn, type).find("expert mix may not be stored as"), std::string::npos);
  }
  EXPECT_NE(refusal(Role::gate, T::q8_0)
                .find(file + ": tensor blk.0.ffn_gate_inp.weight: router may not be "
                             "stored as Q8_0"),
            std::string::npos);
  EXPECT_NE(refusal(Role::engram_q_gain, T::q8_0).find("Engram query gain may not be stored as Q8_0"),
            std::string::npos);
  EXPECT_NE(refusal(Role::norm, T::q8_0).find("final norm may not be stored as Q8_0"), std::string::npos);
  for (const T type : {T::q2_k, T::q3_k, T::iq2_xxs, T::iq3_xxs, T::iq3_s})
    EXPECT_NE(refusal(Role::embed, type).find("embedding may not be stored as"), std::string::npos)
        << name(type);
  for (const T type : {T::q4_0, T::q4_k, T::iq4_nl, T::iq4_xs, T::mxfp4_ggml, T::nvfp4_ggml})
    EXPECT_EQ(refusal(Role::embed, type), "accepted") << name(type);
}

TEST_F(Published, NarrowFloatsAreWidened) {
  for (const T type : {T::f16, T::bf16}) {
    for (const Role role : {Role::norm, Role::kv_norm, Role::sink, Role::gate_bias, Role::expert_mix_base,
                            Role::attention_mix_scale, Role::engram_k_gain, Role::gate})
      EXPECT_EQ(refusal(role, type), "accepted") << name(role) << " " << name(type);
  }
}

TEST_F(Published, AGainOfF16MustBeOneOfBf16) {
  std::vector<OwnedTensor> tensors = published(blueprint_, kPublished[0]);
  for (OwnedTensor& t : tensors) {
    if (t.name != "output_norm.weight") continue;
    t = {t.name, T::f16, t.shape, std::vector<std::byte>(512, std::byte{0x3c})};  // 0x3c3c
  }
  auto made = assembled(tensors);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().message(), folder_ / "m.gguf" +
                                        ": tensor output_norm.weight: number 0 is finer than "
                                        "BF16, which this weight has");
}

TEST(Precision, EveryRoleMayBeAsTheReleaseHasIt) {
  for (int r = 0; r < kRoles; ++r) {
    const auto role = static_cast<Role>(r);
    EXPECT_TRUE(role == Role::engram_table || allowed_encodings(role).has(Encoding::f32)) << name(role);
    for (int e = 0; e < kEncodings; ++e) {
      const auto encoding = static_cast<Encoding>(e);
      if (!concern(role, encoding).empty() && role != Role::attention_mix_fn && role != Role::expert_mix_fn) {
        EXPECT_LT(bits_a_number(encoding), 16) << name(role) << " " << name(encoding);
      }
    }
  }
  EXPECT_TRUE(concern(Role::engram_table, Encoding::row264).empty());
  EXPECT_TRUE(concern(Role::expert_w1, Encoding::mxfp4).empty());
}

}  // namespace
}  // namespace manyspan
