// The law of containers, told of encodings: numbers read from packed bytes give the bits of the same numbers as F32,
// whatever part of the model they are and wherever it is cut.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "engine/gguf_trial.h"
#include "kernels/host_tables.h"
#include "kernels/trial_matrix.h"
#include "prepared/footprint.h"
#include "spec/precision.h"
#include "tests/support/law.h"
#include "tests/support/model_rig.h"
#include "tests/support/spread.h"
#include "weights/encodings_trial.h"

namespace manyspan::test {
namespace {

// A type of GGUF and what it is read as.
struct Stored {
  StoredType type;
  Encoding encoding;
};

std::vector<Stored> every_stored() {
  std::vector<Stored> all = {{StoredType::f16, Encoding::f16}, {StoredType::bf16, Encoding::bf16}};
  for (const StoredType type : kBlockTypes) all.push_back({type, *block_encoding(type)});
  return all;
}

// As GGUF has them: one factor for a whole matrix.
void share_factors(kernels::Matrix& m) {
  const std::int64_t matrices =
      m.w.next_scales == 0 ? 0 : static_cast<std::int64_t>(m.scales.size()) / m.w.next_scales;
  for (std::int64_t i = 0; i < matrices && has_factors(m.w.encoding); ++i) {
    std::byte* first = m.scales.data() + i * m.w.next_scales;
    for (std::int32_t n = 1; n < m.w.rows; ++n) std::memcpy(first + 4 * n, first, 4);
  }
}

// A model whose matrices are random numbers in one encoding, wherever a slot takes it; and the same numbers as F32.
class Encoded {
 public:
  Encoded(const std::string& model, const Stored& stored, const std::string& stem) {
    const Checkpoint& original = checkpoint(model);
    Blueprint b = original.blueprint;
    b.engram.head_dim = 256;  // as the release has it: whole blocks of every encoding
    GgufCopy packed(original.weights, false);
    GgufCopy floats = packed;
    kernels::Chance chance(static_cast<std::uint64_t>(stored.encoding) + 1);
    for (const Slot& slot : slots_of(b)) {
      if (original.weights.find(slot.role, slot.layer) == nullptr || !takes(slot, stored.encoding)) continue;
      const std::string name = gguf_name(slot.role, slot.layer);
      replace(packed, floats, slot, name, stored, chance);
      roles.insert(slot.role);
    }
    const Json keys = own_keys(b, token_map_of(model, original));
    paths[0] = packed.write(stem + "_packed", keys);
    paths[1] = floats.write(stem + "_floats", keys);
  }

  std::string paths[2];
  std::set<Role> roles;

 private:
  static bool takes(const Slot& slot, Encoding e) {
    if (slot.kind == SlotKind::vector_f32 || slot.kind == SlotKind::vector_bf16) return false;
    return slot.allowed.has(e) && (!is_blocks(e) || slot.cols % block_cols(e) == 0);
  }

  static void drop(GgufCopy& copy, const std::string& name) {
    const std::string stem = name.substr(0, name.size() - std::string_view("weight").size());
    std::erase_if(copy.tensors,
                  [&](const OwnedTensor& t) { return t.name == name || t.name == stem + "scale"; });
  }

  static void replace(GgufCopy& packed, GgufCopy& floats, const Slot& slot, const std::string& name,
                      const Stored& stored, kernels::Chance& chance) {
    const auto rows = static_cast<std::int32_t>(slot.rows), cols = static_cast<std::int32_t>(slot.cols);
    kernels::Matrix m = kernels::plain_matrix(chance, stored.encoding, rows, cols, slot.matrices);
    share_factors(m);
    drop(packed, name), drop(floats, name);
    std::vector<std::int64_t> shape = {slot.rows, slot.cols};
    if (slot.matrices > 1) shape.insert(shape.begin(), slot.matrices);
    OwnedTensor as_f32{name, StoredType::f32, shape, {}};
    as_f32.data.resize(static_cast<std::size_t>(slot.matrices * slot.rows * slot.cols) * sizeof(float));
    auto* to = reinterpret_cast<float*>(as_f32.data.data());
    for (std::int32_t e = 0; e < slot.matrices; ++e) {
      for (std::int32_t n = 0; n < rows; ++n, to += cols) values(nth(m.w, e), n, 0, cols, to);
    }
    if (has_factors(stored.encoding)) {
      OwnedTensor factors{name.substr(0, name.size() - 6) + "scale", StoredType::f32, {slot.matrices}, {}};
      for (std::int32_t e = 0; e < slot.matrices; ++e) {
        const std::byte* of = m.scales.data() + e * m.w.next_scales;
        factors.data.insert(factors.data.end(), of, of + sizeof(float));
      }
      packed.tensors.push_back(std::move(factors));
    }
    packed.tensors.push_back({name, stored.type, shape, std::move(m.codes)});
    floats.tensors.push_back(std::move(as_f32));
  }
};

class Encodings : public testing::TestWithParam<Stored> {};

TEST_P(Encodings, GiveTheBitsOfTheirNumbersAsF32) {
  const TemporaryFolder folder;
  const Stored& stored = GetParam();
  const kernels::Table& table = *kernels::host_tables().back();
  for (const std::string& model : {bundled_model(), data_path("t1_base")}) {
    SCOPED_TRACE(model);
    const Encoded encoded(model, stored, folder / "m" + std::to_string(model.size()));
    EXPECT_TRUE(encoded.roles.contains(Role::engram_table));
    EXPECT_TRUE(encoded.roles.contains(Role::engram_kv));
    if (model == bundled_model()) {
      EXPECT_TRUE(encoded.roles.contains(Role::expert_w1));
      EXPECT_EQ(encoded.roles.contains(Role::embed), allowed_encodings(Role::embed).has(stored.encoding));
    }
    const std::vector<TokenId> prompt = law_prompt(model, 1, 21);
    const Limits limits{.step_rows = 16, .sampled_rows = 16, .sessions = 2, .context = 256};
    std::vector<float> right;
    for (const std::string& path : encoded.paths) {
      ModelRig rig(path, {.table = &table, .limits = limits});
      const Checkpoint& c = rig.checkpoint();
      const Footprint counted = footprint(c.blueprint, table.tiling, &c.weights);
      EXPECT_EQ(rig.prepared().bytes, counted.of(all_layers(c.blueprint.layers)).held);
      const std::vector<float> logits = rig.logits(prompt, {13, 1});
      for (const float x : logits) ASSERT_TRUE(std::isfinite(x));
      if (right.empty()) right = logits;
      EXPECT_EQ(first_difference(right, logits), -1);
    }
    Spread spread({encoded.paths[0], "", &table, false, 3}, limits, 5);
    EXPECT_EQ(first_difference(right, spread->logits(prompt, {7})), -1);
  }
}

INSTANTIATE_TEST_SUITE_P(Laws, Encodings, testing::ValuesIn(every_stored()), [](const auto& info) {
  std::string name(manyspan::name(info.param.encoding));
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace manyspan::test
