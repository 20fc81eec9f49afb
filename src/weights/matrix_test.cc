#include "weights/matrix.h"

#include <cmath>

#include "weights/tiny_checkpoint.h"

namespace manyspan {
namespace {

using Matrix = TinyCheckpoint;

TEST_F(Matrix, NanIsRefusedWhereverItIs) {
  const auto break_byte = [&](const std::string& name, std::size_t at, int value) {
    std::byte& b = tensors_.at(name).data[at];
    const std::byte before = std::exchange(b, static_cast<std::byte>(value));
    const std::string message = refusal();
    b = before;
    return message;
  };
  EXPECT_SAYS(break_byte("layers.5.attn.wkv.scale", 3, 0xff), "layers.5.attn.wkv.scale: scale 3 is NaN");
  EXPECT_SAYS(break_byte("layers.5.ffn.experts.3.w2.scale", 9, 0xff), "experts.3.w2.scale: scale 9 is NaN");
  EXPECT_SAYS(break_byte("layers.5.attn.wkv.weight", 4095, 0xff),
              "layers.5.attn.wkv.weight: code 4095 is NaN");
  EXPECT_SAYS(break_byte("layers.5.attn.wkv.weight", 0, 0x7f), "code 0 is NaN");
  EXPECT_EQ(break_byte("layers.5.ffn.experts.3.w2.weight", 9, 0xff), "accepted");
  EXPECT_EQ(break_byte("layers.1.engram.embed.weight", 9, 0x7f), "accepted");  // seen when the row is read
}

TEST_F(Matrix, NoFloatMayBeNanOrInfinite) {
  const auto with = [&](const std::string& name, std::size_t at, std::uint32_t bits) {
    Held& held = tensors_.at(name);
    const std::size_t wide = held.type == StoredType::f32 ? 4 : 2;
    std::byte* place = held.data.data() + at * wide;
    std::array<std::byte, 4> before{};
    std::memcpy(before.data(), place, wide);
    std::memcpy(place, &bits, wide);
    const std::string message = refusal();
    std::memcpy(place, before.data(), wide);
    return message;
  };
  for (const std::string name :
       {"embed.weight", "head.weight", "norm.weight", "layers.5.attn_norm.weight",
        "layers.5.attn.compressor.wkv.weight", "layers.5.attn.indexer.weights_proj.weight",
        "layers.3.ffn.gate.weight", "layers.1.engram.q_weight"}) {
    ASSERT_EQ(tensors_.at(name).type, StoredType::bf16) << name;
    EXPECT_EQ(with(name, 33, 0xff80u), file_ + ": tensor " + name + ": number 33 is NaN or infinite");
  }
  for (const std::string name : {"layers.5.hc_attn_fn", "layers.5.hc_ffn_base", "layers.5.hc_ffn_scale",
                                 "layers.5.attn.attn_sink", "layers.3.ffn.gate.bias"}) {
    ASSERT_EQ(tensors_.at(name).type, StoredType::f32) << name;
    EXPECT_EQ(with(name, 2, 0x7f800001u), file_ + ": tensor " + name + ": number 2 is NaN or infinite");
  }
  tensors_.at("layers.3.ffn.gate.weight").type = StoredType::f16;
  EXPECT_SAYS(with("layers.3.ffn.gate.weight", 511, 0x7c01u),
              "ffn.gate.weight: number 511 is NaN or infinite");
  EXPECT_SAYS(with("layers.3.ffn.gate.weight", 511, 0x7bffu), "accepted");
}

TEST_F(Matrix, AScaleMustNotCarryACodeBeyondF32) {
  const auto with = [&](const std::string& name, int code) {
    std::byte& b = tensors_.at(name).data[1];
    const std::byte before = std::exchange(b, static_cast<std::byte>(code));
    const std::string message = refusal();
    b = before;
    return message;
  };
  EXPECT_EQ(with("layers.5.attn.wkv.scale", 246), "accepted");
  EXPECT_SAYS(with("layers.5.attn.wkv.scale", 247), "attn.wkv.scale: scale 1 is above 2^119: F32 does not");
  EXPECT_SAYS(with("layers.5.attn.wkv.scale", 254), "its product with 448, the largest FP8 code");
  EXPECT_EQ(with("layers.5.ffn.experts.3.w2.scale", 252), "accepted");
  EXPECT_SAYS(with("layers.5.ffn.experts.3.w2.scale", 253), "scale 1 is above 2^125: F32 does not hold its");

  rescale(128, 128, StoredType::f32);
  const float last = std::ldexp(1.0f, 119), large = std::ldexp(1.0f, 120);
  std::memcpy(tensors_.at("layers.5.attn.wq_b.scale").data.data() + 4, &last, 4);
  EXPECT_EQ(refusal(), "accepted");
  std::memcpy(tensors_.at("layers.5.attn.wq_b.scale").data.data() + 4, &large, 4);
  EXPECT_SAYS(refusal(), "attn.wq_b.scale: scale 1 is above 2^119");
}

TEST_F(Matrix, ExpertsAreStoredAsTheConfigSays) {
  using Said = Quantization::ExpertDtype;
  blueprint_.quantization.expert_dtype = Said::fp8;
  const std::string w1 = "layers.0.ffn.experts.0.w1";
  EXPECT_SAYS(refusal(), file_ + ": tensor " + w1 +
                             ".weight: is stored as I8 (MXFP4), but the config's expert_dtype is fp8");
  blueprint_.quantization.expert_dtype = Said::bf16;
  EXPECT_SAYS(refusal(), "but the config's expert_dtype is bf16");
  blueprint_.quantization.expert_dtype = Said::unsaid;
  EXPECT_EQ(refusal(), "accepted");

  for (auto& [name, held] : tensors_) {
    if (name.find(".ffn.experts.") == std::string::npos || name.starts_with("mtp.")) continue;
    if (name.ends_with(".weight")) {
      held.type = StoredType::f8_e4m3;
      held.shape[1] *= 2;
      held.data.assign(held.data.size() * 2, std::byte{0x38});
    } else {
      held.shape[0] /= 32;
      held.data.assign(held.data.size() / 32, std::byte{127});
    }
  }
  EXPECT_EQ(refusal(), "accepted");
  blueprint_.quantization.expert_dtype = Said::fp8;
  EXPECT_EQ(refusal(), "accepted");
  blueprint_.quantization.expert_dtype = Said::fp4;
  EXPECT_SAYS(refusal(), ".weight: is stored as F8_E4M3 (FP8 32x32), but the config's expert_dtype is fp4");

  for (auto& [name, held] : tensors_) {
    if (!name.starts_with(w1)) continue;
    if (!name.ends_with(".weight")) continue;
    held.type = StoredType::bf16;
    held.data.assign(held.data.size() * 2, std::byte{0});
  }
  tensors_.erase(w1 + ".scale");
  EXPECT_FALSE(says(refusal(), w1)) << "decoded to floats, it may keep its word";
}

TEST_F(Matrix, ARoleRefusesWhatIsTooCoarseForIt) {
  const auto as_bf16 = [&](const std::string& name) {
    const Held before = tensors_.at(name);
    Held& held = tensors_.at(name);
    held.type = StoredType::bf16;
    held.data.resize(held.data.size() / 2);
    const std::string message = refusal();
    tensors_[name] = before;
    return message;
  };
  EXPECT_SAYS(as_bf16("layers.5.hc_ffn_fn"), "expert mix may not be stored as BF16");
  EXPECT_EQ(as_bf16("layers.5.attn.attn_sink"), "accepted");
  Held& gate = tensors_.at("layers.5.ffn.gate.weight");
  gate.type = StoredType::f8_e4m3;
  gate.data.assign(gate.data.size() / 2, std::byte{0});
  EXPECT_SAYS(refusal(), "router may not be stored as F8_E4M3 (FP8 32x32)");
  gate.type = StoredType::f8_e5m2;
  EXPECT_SAYS(refusal(), "router may not be stored as F8_E5M2");
}

TEST_F(Matrix, FloatGainsMustFitBf16) {
  Held& norm = tensors_.at("norm.weight");
  const std::vector<std::byte> half = norm.data;
  norm.type = StoredType::f32;
  norm.data.assign(half.size() * 2, std::byte{0});
  for (std::size_t i = 0; i < half.size() / 2; ++i)
    std::memcpy(norm.data.data() + 4 * i + 2, half.data() + 2 * i, 2);
  EXPECT_EQ(refusal(), "accepted");
  norm.data[40] = std::byte{1};
  EXPECT_SAYS(refusal(), "norm.weight: number 10 is finer than BF16");
}

TEST_F(Matrix, ACancelledLoadStops) {
  ASSERT_EQ(refusal(), "accepted");
  Cancel cancel;
  cancel.request();
  auto made = assemble(*container_, blueprint_, {.scan = true, .cancel = &cancel});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().message(), "cancelled");
}

TEST_F(Matrix, HostileScalesAreNamed) {
  const std::map<std::string, std::string> expected{{"missing", "no scale, which FP8 32x32 needs"},
                                                    {"shape", "scale is F8_E8M0 [1, 2], must be [2, 2]"},
                                                    {"nan", "is NaN"}};
  for (const auto& [name, part] : expected) {
    const std::string path =
        std::string(MANYSPAN_SOURCE_DIR) + "/tests/data/hostile/st_scale_" + name + ".safetensors";
    const Container container = open_container(path).value();
    Blueprint b = blueprint_;
    b.q_rank = b.hidden = static_cast<std::int32_t>(container.find("layers.0.attn.wq_a.weight")->shape[0]);
    auto made = assemble(container, b);
    ASSERT_FALSE(made.ok());
    EXPECT_SAYS(made.error().message(), path + ": ");
    EXPECT_SAYS(made.error().message(), "layers.0.attn.wq_a");
    EXPECT_SAYS(made.error().message(), part);
  }
}

TEST_F(Matrix, EdgesOfBlocksRoundUp) {
  const std::vector<std::byte> codes(70 * 40), scales(3 * 2);
  for (const std::int64_t rows : {3, 2}) {
    ASSERT_TRUE(write_safetensors(file_, {{"layers.0.attn.wq_a.weight", StoredType::f8_e4m3, {70, 40}, codes},
                                          {"layers.0.attn.wq_a.scale",
                                           StoredType::f8_e8m0,
                                           {rows, 2},
                                           Bytes(scales).first(static_cast<std::size_t>(rows * 2))}})
                    .ok());
    const Container container = open_container(file_).value();
    Directory directory = Directory::of(container, blueprint_.layers).value();
    const Slot slot{Role::wq_a, LayerId{0}, 1, 70, 40, SlotKind::quantised_linear, {Encoding::fp8_block32}};
    auto read = read_matrices(directory, "layers.0.attn.wq_a.weight", {slot, blueprint_.quantization});
    EXPECT_EQ(read.ok(), rows == 3);
    EXPECT_SAYS(read.ok() ? "must be [3, 2]" : read.error().message(), "must be [3, 2]");
  }
}

}  // namespace
}  // namespace manyspan
