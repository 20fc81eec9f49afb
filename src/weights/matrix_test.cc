#include "weights/matrix.h"

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
    EXPECT_SAYS(made.error().message(), "1 wrong: ");
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
    Directory directory = Directory::of(container).value();
    const Slot slot{Role::wq_a, LayerId{0}, 1, 70, 40, SlotKind::quantised_linear, {Encoding::fp8_block32}};
    auto read = read_matrices(directory, "layers.0.attn.wq_a.weight", {slot, blueprint_.quantization});
    EXPECT_EQ(read.ok(), rows == 3);
    EXPECT_SAYS(read.ok() ? "must be [3, 2]" : read.error().message(), "must be [3, 2]");
  }
}

}  // namespace
}  // namespace manyspan
