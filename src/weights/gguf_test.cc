#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "spec/gguf_trial.h"
#include "weights/assemble.h"
#include "weights/names_hf.h"
#include "weights/tiny_checkpoint.h"
#include "weights/tiny_gguf.h"

namespace manyspan {
namespace {

TEST(GgufNames, BothFamiliesGiveTheOfficialNames) {
  for (int r = 0; r < kRoles; ++r) {
    const Role role = static_cast<Role>(r);
    const bool whole = role == Role::embed || role == Role::head || role == Role::norm;
    const LayerId layer{whole ? -1 : 39};
    EXPECT_EQ(gguf_official(gguf_name(role, layer), 40), hf_name(role, layer));
  }
  const auto official = [](const char* name) { return gguf_official(name, 40); };
  EXPECT_EQ(official("blk.1.engram_kv.weight"), "layers.1.engram.wkv.weight");
  EXPECT_EQ(official("blk.1.engram_q_norm.weight"), "layers.1.engram.q_weight");
  EXPECT_EQ(official("blk.1.engram_embd.scale"), "layers.1.engram.embed.scale");
  EXPECT_EQ(official("blk.3.ffn_gate_exps.scale"), "layers.3.ffn.experts.w1.scale");
  EXPECT_EQ(official("blk.3.ffn_gate_exps.input_scale"), "layers.3.ffn.experts.w1.input_scale");
  EXPECT_EQ(official("blk.40.attn_q_a.weight"), "mtp.0.attn.wq_a.weight");
  EXPECT_EQ(official("blk.42.conf_proj.weight"), "mtp.2.conf_proj.weight");
  EXPECT_EQ(official("mtp.1.attn_kv.weight"), "mtp.1.attn.wkv.weight");
  EXPECT_EQ(official("mtp.2.markov_head.markov_w1.weight"), "mtp.2.markov_head.markov_w1.weight");
  EXPECT_EQ(official("markov_w1.weight"), "mtp.markov_w1.weight");
  EXPECT_EQ(hf_capability(official("v.blk.0.attn_q.weight")), Capability::vision);
  for (const char* unknown :
       {"blk.1.attn_q.weight", "blk.01.attn_q_a.weight", "blk.-1.attn_q_a.weight",
        "blk.99999999999.attn_q_a.weight", "blk.1.token_embd.weight", "attn_q_a.weight", "blk.1.", "blk.1"}) {
    EXPECT_EQ(official(unknown), unknown);
  }
}

class Gguf : public TinyCheckpoint {
 protected:
  // The tiny checkpoint as a GGUF, changed by `change` before it is written.
  template <class Change>
  Result<Weights> assembled_gguf(Change change, bool second = false) {
    EXPECT_EQ(refusal(), "accepted");
    GgufCopy copy(*weights_, second);
    change(copy.tensors);
    gguf_.emplace(open_container(copy.write(folder_ / "m", own_keys(blueprint_))).value());
    Blueprint plain = blueprint_;
    plain.quantization = {};
    return assemble(*gguf_, plain);
  }
  template <class Change>
  std::string gguf_refusal(Change change) {
    auto made = assembled_gguf(change);
    return made.ok() ? "accepted" : made.error().message();
  }
  static OwnedTensor& named(std::vector<OwnedTensor>& tensors, const std::string& name) {
    const auto at =
        std::find_if(tensors.begin(), tensors.end(), [&](const OwnedTensor& t) { return t.name == name; });
    EXPECT_NE(at, tensors.end()) << name;
    return *at;
  }

  TemporaryFolder folder_;
  std::optional<Container> gguf_;
};

TEST_F(Gguf, APlainCopyFillsEverySlotWithTheSameNumbers) {
  for (const bool second : {false, true}) {
    auto made = assembled_gguf([](auto&) {}, second);
    ASSERT_TRUE(made.ok()) << made.error().message();
    const Weights& copy = made.value();
    EXPECT_FALSE(copy.has(Capability::draft));
    for (const Slot& slot : copy.slots()) {
      for (std::int32_t e = 0; e < slot.matrices && copy.find(slot.role, slot.layer) != nullptr; ++e) {
        const MatrixSource &a = copy.at(slot.role, slot.layer, e),
                           &b = weights_->at(slot.role, slot.layer, e);
        ASSERT_EQ(a.rows, b.rows);
        ASSERT_EQ(a.cols, b.cols);
        const auto weight = [](const MatrixSource& m) {
          Weight w{};
          w.codes = m.codes.data();
          w.scales = m.scales.data();
          w.rows = static_cast<std::int32_t>(m.rows);
          w.cols = static_cast<std::int32_t>(m.cols);
          w.encoding = m.encoding;
          return w;
        };
        for (const std::int64_t r : {std::int64_t{0}, a.rows / 2, a.rows - 1}) {
          for (const std::int64_t c : {std::int64_t{0}, a.cols / 2, a.cols - 1})
            ASSERT_EQ(value(weight(a), r, c), value(weight(b), r, c)) << a.place;
        }
      }
    }
    EXPECT_SAYS(copy.at(Role::expert_w2, kFive, 7).place, "tensor blk.5.ffn_down_exps.weight[7]");
  }
}

TEST_F(Gguf, DraftAndVisionPartsAreCapabilities) {
  auto made = assembled_gguf([](std::vector<OwnedTensor>& tensors) {
    const std::vector<std::byte> four(4);
    tensors.push_back({"blk.10.attn_q_a.weight", StoredType::f32, {1}, four});
    tensors.push_back({"fc.weight", StoredType::f32, {1}, four});
    tensors.push_back({"v.patch_embd.weight", StoredType::f32, {1}, four});
  });
  ASSERT_TRUE(made.ok()) << made.error().message();
  EXPECT_TRUE(made.value().has(Capability::draft));
  EXPECT_TRUE(made.value().has(Capability::vision));
}

TEST_F(Gguf, FaultsNameTheFilesTensors) {
  EXPECT_SAYS(gguf_refusal([](auto& tensors) { named(tensors, "blk.5.ffn_up_exps.weight").name = "other"; }),
              "1 missing: blk.5.ffn_up_exps.weight (expert up)");
  EXPECT_SAYS(gguf_refusal([](auto& tensors) { named(tensors, "blk.5.attn_kv.weight").name = "other"; }),
              "blk.5.attn_kv.weight (window key)");
  EXPECT_SAYS(gguf_refusal([](auto& tensors) {
                tensors.push_back({"blk.3.odd.weight", StoredType::i8, {1}, std::vector<std::byte>(1)});
              }),
              "m.gguf: tensor blk.3.odd.weight: unexpected");
  EXPECT_SAYS(gguf_refusal([](auto& tensors) {
                OwnedTensor& t = named(tensors, "blk.5.attn_kv.weight");
                t.type = StoredType::q5_0;
                t.data.resize(t.data.size() / 64 * 22);
              }),
              "tensor blk.5.attn_kv.weight: window key may not be stored as Q5_0");
  EXPECT_SAYS(gguf_refusal([](auto& tensors) {
                named(tensors, "blk.5.attn_kv.weight").shape = {32, 128};
              }),
              "blk.5.attn_kv.weight: is BF16 [32, 128], must be [64, 64]");
}

TEST_F(Gguf, TrailingDimensionsOfOneAreNone) {
  EXPECT_EQ(gguf_refusal([](auto& tensors) {
              named(tensors, "blk.5.attn_kv.weight").shape = {1, 1, 64, 64};
              named(tensors, "blk.5.attn_sinks.weight").shape = {1, 4};
              named(tensors, "blk.5.attn_output_a.weight").shape = {2, 32, 128};
            }),
            "accepted");
}

}  // namespace
}  // namespace manyspan
