#include "weights/assemble.h"

#include "base/json.h"
#include "base/temporary_folder.h"
#include "weights/tiny_checkpoint.h"

namespace manyspan {
namespace {

using Assemble = TinyCheckpoint;

TEST_F(Assemble, TheTinyCheckpointFillsEverySlot) {
  ASSERT_EQ(refusal(), "accepted");
  for (const Slot& slot : weights_->slots()) {
    if (slot.capability != Capability::text) continue;
    for (std::int32_t e = 0; e < slot.matrices; ++e) {
      const MatrixSource& m = weights_->at(slot.role, slot.layer, e);
      EXPECT_EQ(m.rows, slot.rows);
      EXPECT_EQ(m.cols, slot.cols);
      EXPECT_EQ(static_cast<std::int64_t>(m.codes.size()), m.rows * m.cols * code_bits(m.encoding) / 8)
          << m.place;
    }
  }
  EXPECT_EQ(weights_->at(Role::wq_a, kFive).encoding, Encoding::fp8_block32);
  EXPECT_EQ(weights_->at(Role::expert_w2, kFive, 7).encoding, Encoding::mxfp4);
  EXPECT_EQ(weights_->at(Role::engram_table, LayerId{1}).encoding, Encoding::mxfp8);
  EXPECT_SAYS(weights_->at(Role::expert_w2, kFive, 7).place, "layers.5.ffn.experts.7.w2.weight");
  EXPECT_EQ(weights_->find(Role::engram_table, kFive), nullptr);
  EXPECT_EQ(weights_->find(Role::expert_w2, kFive, 8), nullptr);
  EXPECT_EQ(weights_->find(Role::wq_a, LayerId{99}), nullptr);
  EXPECT_TRUE(weights_->has(Capability::draft));
  EXPECT_FALSE(weights_->has(Capability::vision));
  EXPECT_FALSE(weights_->has(Capability::images));
}

TEST_F(Assemble, TableRowsAreReadAsTheyLieInTheMapping) {
  ASSERT_EQ(refusal(), "accepted");
  const MatrixSource& table = weights_->at(Role::engram_table, LayerId{3});
  std::vector<std::byte> codes(2 * 32), scales(2);
  ASSERT_TRUE(weights_->read_rows(table, 400, 2, codes, scales).ok());
  EXPECT_EQ(std::memcmp(codes.data(), table.codes.data() + 400 * 32, 64), 0);
  EXPECT_EQ(std::memcmp(scales.data(), table.scales.data() + 400, 2), 0);
}

TEST_F(Assemble, TheNamespaceIsFoundInTheDirectory) {
  for (const std::string space : {"model.", "language_model.", "language_model.model."}) {
    rename_all([&](const std::string& name) {
      const std::size_t at = name.starts_with("language_model.model.") ? 21
                             : name.starts_with("language_model.")     ? 15
                             : name.starts_with("model.")              ? 6
                                                                       : 0;
      return space + name.substr(at);
    });
    EXPECT_EQ(refusal(), "accepted") << space;
  }
  rename("language_model.model.embed.weight", "language_model.model.embed_tokens.weight");
  rename("language_model.model.head.weight", "language_model.lm_head.weight");
  EXPECT_EQ(refusal(), "accepted");
  EXPECT_SAYS(weights_->at(Role::head).place, "language_model.lm_head.weight");
}

TEST_F(Assemble, OneWeightUnderTwoNamesIsRefused) {
  tensors_["lm_head.weight"] = tensors_.at("head.weight");
  EXPECT_SAYS(refusal(), "the same weight as tensor head.weight");
}

TEST_F(Assemble, MergedExpertsAreTheSeparateOnes) {
  const auto separate = tensors_;
  for (const bool other : {false, true}) {
    tensors_ = separate;
    other ? merge_experts("switch_mlp", {"gate_proj", "down_proj", "up_proj"}, "scales")
          : merge_experts("experts", {"w1", "w2", "w3"}, "scale");
    ASSERT_EQ(refusal(), "accepted");
    for (int w = 1; w <= 3; ++w) {
      const Role role = w == 1 ? Role::expert_w1 : w == 2 ? Role::expert_w2 : Role::expert_w3;
      const MatrixSource& m = weights_->at(role, kFive, 6);
      const std::string stem = "layers.5.ffn.experts.6.w" + std::to_string(w);
      const auto& codes = separate.at(stem + ".weight").data;
      const auto& scales = separate.at(stem + ".scale").data;
      EXPECT_TRUE(std::equal(m.codes.begin(), m.codes.end(), codes.begin(), codes.end()));
      EXPECT_TRUE(std::equal(m.scales.begin(), m.scales.end(), scales.begin(), scales.end()));
    }
  }
}

TEST_F(Assemble, PackedWordsAreTheSameBytes) {
  merge_experts("experts", {"w1", "w2", "w3"}, "scales");
  for (auto& [name, held] : tensors_) {
    if (held.type == StoredType::i8 && held.shape.size() == 3)
      held.type = StoredType::u32, held.shape[2] /= 4;
  }
  EXPECT_EQ(refusal(), "accepted");
  tensors_.at("layers.3.ffn.experts.w1.weight").shape = {8, 32, 16};
  EXPECT_SAYS(refusal(), "is U32 [8, 32, 16], must be [8, 64, 8]");
}

TEST_F(Assemble, TheConfigSaysTheBlockAndTheScalesMustAgree) {
  rescale(128, 128, StoredType::f8_e8m0);
  ASSERT_EQ(refusal(), "accepted");
  EXPECT_EQ(weights_->at(Role::wq_b, kFive).encoding, Encoding::fp8_block128);
  blueprint_.quantization.block_rows = blueprint_.quantization.block_cols = 32;
  const std::string message = refusal();
  EXPECT_SAYS(message,
              "layers.0.attn.wq_a.scale: scale is F8_E8M0 [1, 1], must be [2, 2] for 32x32 blocks of F8_E4M3 "
              "[64, 64]");
  EXPECT_FALSE(says(message, "unexpected")) << message;
}

TEST_F(Assemble, FloatScalesThatAreNoPowersOfTwoMakeAllOfThemSuch) {
  rescale(128, 128, StoredType::f32);
  ASSERT_EQ(refusal(), "accepted");
  EXPECT_EQ(weights_->at(Role::wq_b, kFive).scale_type, ScaleType::f32);
  EXPECT_EQ(weights_->at(Role::wq_b, kFive).encoding, Encoding::fp8_block128);
  const float free = 1.5f;
  std::memcpy(tensors_.at("layers.5.attn.wq_b.scale").data.data() + 4, &free, 4);
  ASSERT_EQ(refusal(), "accepted");
  for (const Role role : {Role::wq_b, Role::wq_a, Role::shared_w1})
    EXPECT_EQ(weights_->at(role, kFive).encoding, Encoding::fp8_block128_f32);
  rescale(32, 32, StoredType::f32);
  EXPECT_SAYS(refusal(), "scale may not be stored as F32 for 32x32 blocks");
}

TEST_F(Assemble, RowScalesNeedTheConfigsWord) {
  rescale(1, 32, StoredType::f8_e8m0);
  ASSERT_EQ(refusal(), "accepted");
  EXPECT_EQ(weights_->at(Role::wq_b, kFive).encoding, Encoding::mxfp8);
  blueprint_.quantization.block_rows = 32;
  EXPECT_SAYS(refusal(), "must be [2, 2] for 32x32 blocks");
}

TEST_F(Assemble, ScalesMayBeBytesWhereTheConfigSaysWhatTheyMean) {
  for (auto& [name, held] : tensors_) {
    if (held.type == StoredType::f8_e8m0) held.type = StoredType::u8;
  }
  EXPECT_EQ(refusal(), "accepted");
  blueprint_.quantization.scales_ue8m0 = false;
  EXPECT_SAYS(refusal(), "the config does not say that scale_fmt is ue8m0");
}

TEST_F(Assemble, EveryScaleSuffixIsKnownAndTwoAreRefused) {
  const Held scale = tensors_.at("layers.5.attn.wkv.scale");
  for (const std::string suffix : {"scale_inv", "weight_scale", "weight_scale_inv", "scales"}) {
    tensors_.erase("layers.5.attn.wkv.scale");
    tensors_["layers.5.attn.wkv." + suffix] = scale;
    EXPECT_EQ(refusal(), "accepted") << suffix;
    tensors_["layers.5.attn.wkv.scale"] = scale;
    EXPECT_SAYS(refusal(), "a second scale beside tensor layers.5.attn.wkv.scale");
    tensors_.erase("layers.5.attn.wkv." + suffix);
  }
}

TEST_F(Assemble, AnyLinearMayBePlain) {
  for (const std::string name :
       {"layers.5.attn.wo_a", "layers.5.attn.wq_a", "layers.2.ffn.shared_experts.w2"}) {
    Held& held = tensors_.at(name + ".weight");
    held.type = StoredType::bf16;
    held.data.assign(held.data.size() * 2, std::byte{0});
    tensors_.erase(name + ".scale");
  }
  Held& wo_a = tensors_.at("layers.5.attn.wo_a.weight");
  wo_a.shape = {2, 32, 128};
  ASSERT_EQ(refusal(), "accepted");
  EXPECT_EQ(weights_->at(Role::wo_a, kFive).encoding, Encoding::bf16);
  EXPECT_EQ(weights_->at(Role::wo_a, kFive).rows, 64);
  EXPECT_TRUE(weights_->at(Role::wo_a, kFive).scales.empty());
}

TEST_F(Assemble, WhatIsMissingIsNamed) {
  for (const std::string name :
       {"layers.1.engram.wkv.weight", "layers.3.engram.embed.weight", "layers.4.hc_attn_fn",
        "layers.2.attn.compressor.wgate.weight", "layers.5.ffn.experts.3.w2.weight", "norm.weight"}) {
    const auto node = tensors_.extract(name);
    const std::string message = refusal();
    EXPECT_TRUE(message.starts_with(file_ + ": missing tensor " + name + " (")) << message;
    tensors_[name] = node.mapped();
  }
  for (int e = 0; e < 8; ++e) {
    for (const std::string w : {"w1", "w2", "w3"})
      tensors_.erase("layers.5.ffn.experts." + std::to_string(e) + "." + w + ".weight");
  }
  EXPECT_SAYS(refusal(), "24 missing: layers.5.ffn.experts.0.w1.weight (expert gate), ");
  EXPECT_SAYS(refusal(), "and 16 more");
}

TEST_F(Assemble, AFileOfOneTensorIsRefusedInOneLine) {
  const Held one = tensors_.at("norm.weight");
  tensors_ = {{"weight", one}};
  const std::string message = refusal();
  EXPECT_SAYS(message, "1 unexpected: weight");
  EXPECT_LT(message.size(), 1000u);
}

TEST_F(Assemble, WhatIsUnexpectedIsNamed) {
  tensors_["layers.5.attn.wq_c.weight"] = tensors_.at("norm.weight");
  tensors_["layers.4.attn.compressor.norm.weight"] = tensors_.at("norm.weight");
  EXPECT_SAYS(refusal(), "2 unexpected: layers.4.attn.compressor.norm.weight, layers.5.attn.wq_c.weight");
}

TEST_F(Assemble, AFaultThatStandsAloneBeginsWithItsFileAndTensor) {
  Held& norm = tensors_.at("norm.weight");
  norm.shape = {32, 2};
  EXPECT_EQ(refusal(), file_ + ": tensor norm.weight: is BF16 [32, 2], must be [64]");
  norm.shape = {64};
  tensors_["layers.5.attn.wq_c.weight"] = norm;
  EXPECT_EQ(refusal(),
            file_ + ": tensor layers.5.attn.wq_c.weight: unexpected; the model has no such weight");
  norm.shape = {32, 2};
  EXPECT_EQ(refusal(), file_ + ": 1 wrong: " + file_ +
                           ": tensor norm.weight: is BF16 [32, 2], must be [64]; 1 unexpected: "
                           "layers.5.attn.wq_c.weight");
}

TEST_F(Assemble, WhatIsMissingNamesTheFileOrIndexThatWasLookedIn) {
  const TemporaryFolder folder;
  tensors_.erase("norm.weight");
  const auto written = [&](const std::string& name) {
    std::vector<TensorToWrite> all;
    for (const auto& [tensor, held] : tensors_) all.push_back({tensor, held.type, held.shape, held.data});
    ASSERT_TRUE(write_safetensors(folder / name, all).ok());
  };
  const auto message = [&] {
    const Container container = open_container(folder.path()).value();
    auto made = assemble(container, blueprint_);
    return made.ok() ? "accepted" : made.error().message();
  };
  const std::string missing = ": missing tensor norm.weight (final norm)";
  written("model.safetensors");
  EXPECT_EQ(message(), folder / "model.safetensors" + missing);
  tensors_.erase("head.weight");
  written("model.safetensors");
  EXPECT_SAYS(message(), folder.path() + ": 2 missing from " + (folder / "model.safetensors") +
                             ": head.weight (head), norm.weight");
  std::string map;
  for (const auto& [tensor, held] : tensors_)
    map += (map.empty() ? "" : ", ") + json_quoted(tensor) + ": \"model.safetensors\"";
  folder.put("model.safetensors.index.json", "{\"weight_map\": {" + map + "}}");
  EXPECT_SAYS(message(), "2 missing from " + (folder / "model.safetensors.index.json") + ": head");
}

TEST_F(Assemble, ADeepSeekV4FileIsCalledSo) {
  tensors_["layers.2.attn.compressor.ape"] = tensors_.at("norm.weight");
  EXPECT_SAYS(refusal(), "layers.2.attn.compressor.ape: only DeepSeek-V4 has this tensor");
}

TEST_F(Assemble, ImageBiasesAreThereForAllLayersOrNone) {
  for (int l = 0; l < 10; ++l)
    tensors_["layers." + std::to_string(l) + ".ffn.gate.bias_vl"] = tensors_.at("layers.0.ffn.gate.bias");
  ASSERT_EQ(refusal(), "accepted");
  EXPECT_TRUE(weights_->has(Capability::images));
  tensors_.erase("layers.7.ffn.gate.bias_vl");
  EXPECT_SAYS(refusal(), "missing tensor layers.7.ffn.gate.bias_vl (other layers have theirs)");
}

}  // namespace
}  // namespace manyspan
