// Blocks of every type through the loader: what a file's bytes mean, read number by number from where a kernel would.

#include <cmath>

#include "weights/encodings_trial.h"

namespace manyspan {
namespace {

TEST(StoredEncoding, BlocksAreAsLongAsTheirTypes) {
  int known = 0;
  for (int t = static_cast<int>(StoredType::q4_0); t <= static_cast<int>(StoredType::q2_0); ++t) {
    const auto type = static_cast<StoredType>(t);
    const auto e = block_encoding(type);
    if (!e) continue;
    ++known;
    EXPECT_EQ(block_of(type).elements, block_cols(*e)) << name(type);
    EXPECT_EQ(block_of(type).bytes, block_bytes(*e)) << name(type);
    const std::string stored(name(type)), said(name(*e));
    EXPECT_TRUE(said.starts_with(stored)) << stored << ", " << said;
  }
  EXPECT_EQ(known, 16);
  EXPECT_FALSE(block_encoding(StoredType::q4_1));
  EXPECT_FALSE(block_encoding(StoredType::f16));
}

TEST_F(Encodings, BlocksOfEveryTypeStandWhereTheyStand) {
  for (const StoredType type : kBlockTypes) {
    const Encoding e = *block_encoding(type);
    const BlockMatrix m(e, 6, 4, 11);
    ASSERT_NE(m.at(0, 0), m.at(5, 0));
    expect({{"blk.0.attn_q_b.weight", type, {m.rows, m.cols()}, m.data}}, true, m.rows, m.cols(), e,
           [&](std::int64_t r, std::int64_t c) { return m.at(r, c); });
  }
}

TEST_F(Encodings, MergedExpertsOfBlocksAreCutByRows) {
  role_ = Role::expert_w1;
  official_ = "layers.0.ffn.experts.w1.weight";
  for (const StoredType type : kBlockTypes) {
    const Encoding e = *block_encoding(type);
    const BlockMatrix m(e, 15, 2, 5);
    expect(
        {{"blk.0.ffn_gate_exps.weight", type, {5, 3, m.cols()}, m.data}}, true, 3, m.cols(), e,
        [&](std::int64_t r, std::int64_t c) { return m.at(r, c); }, 5);
  }
}

TEST_F(Encodings, FactorsOfNvfp4BlocksMultiplyTheirMatrix) {
  role_ = Role::expert_w1;
  official_ = "layers.0.ffn.experts.w1.weight";
  const BlockMatrix m(Encoding::nvfp4_ggml, 6, 2, 5);
  const Stored codes{"blk.0.ffn_gate_exps.weight", StoredType::nvfp4_ggml, {3, 2, m.cols()}, m.data};
  const float factors[] = {0.25f, 3.0f, -0.1f};
  Stored scale{"blk.0.ffn_gate_exps.scale", StoredType::f32, {3}, {}};
  for (const float f : factors) {
    const auto bytes = bytes_of(f);
    scale.data.insert(scale.data.end(), bytes.begin(), bytes.end());
  }
  const Stored input{"blk.0.ffn_gate_exps.input_scale", StoredType::f32, {3}, scale.data};
  expect(
      {codes, scale, input}, true, 2, m.cols(), Encoding::nvfp4_ggml,
      [&](std::int64_t r, std::int64_t c) { return m.at(r, c) * factors[r / 2]; }, 3);
  const Stored one{scale.name, StoredType::f32, {1}, bytes_of(0.5f)};
  expect(
      {codes, one}, true, 2, m.cols(), Encoding::nvfp4_ggml,
      [&](std::int64_t r, std::int64_t c) { return m.at(r, c) * 0.5f; }, 3);
  const auto bad = [&](Stored s) { return refusal({codes, std::move(s)}, true, 2, m.cols(), 3); };
  EXPECT_EQ(bad({scale.name, StoredType::f32, {2}, std::vector<std::byte>(8)}),
            file_ + ": tensor blk.0.ffn_gate_exps.scale: is F32 [2], must be F32 [3]: the factor of " +
                file_ + ": tensor blk.0.ffn_gate_exps.weight");
  EXPECT_NE(bad({scale.name, StoredType::f16, {1}, std::vector<std::byte>(2)}).find("must be F32"),
            std::string::npos);
  EXPECT_NE(bad({scale.name, StoredType::f32, {1}, bytes_of(INFINITY)}).find("number 0 is inf"),
            std::string::npos);
  EXPECT_NE(bad({scale.name, StoredType::f32, {1}, bytes_of(2e35f)}).find("product with 2688"),
            std::string::npos);
}

TEST_F(Encodings, ABlockWithoutANumberIsNamed) {
  for (const StoredType type : kBlockTypes) {
    const Encoding e = *block_encoding(type);
    BlockMatrix m(e, 4, 2, 3);
    const auto bytes = static_cast<std::size_t>(block_bytes(e));
    const std::vector<int> halves = halves_of(e);
    const auto at = static_cast<std::size_t>(halves.empty() ? byte_scales_of(e).first : halves[0] + 1);
    m.data[5 * bytes + at] = std::byte{halves.empty() ? std::uint8_t{0xff} : std::uint8_t{0x7c}};
    const std::string said =
        refusal({{"blk.0.attn_q_b.weight", type, {m.rows, m.cols()}, m.data}}, true, m.rows, m.cols());
    EXPECT_TRUE(said.starts_with(file_ + ": tensor blk.0.attn_q_b.weight: block 5: its scale is ")) << said;
  }
}

TEST_F(Encodings, TablesInRowsOfCodesThenScales) {
  role_ = Role::engram_table;
  kind_ = SlotKind::row_scaled_table;
  official_ = "layers.0.engram.embed.weight";
  const BlockMatrix m(Encoding::row264, 6, 1, 3);
  const Numbers numbers = [&](std::int64_t r, std::int64_t c) { return m.at(r, c); };
  const Stored rows{"blk.0.engram_embd.weight", StoredType::i8, {6, 264}, m.data};
  expect({rows}, true, 6, 256, Encoding::row264, numbers);
  EXPECT_NE(refusal({{rows.name, StoredType::i8, {6, 265}, std::vector<std::byte>(6 * 265)}}, true, 6, 256)
                .find("is I8 [6, 265], must be"),
            std::string::npos);

  std::vector<std::byte> codes, scales;
  for (std::size_t r = 0; r < 6; ++r) {
    const auto row = m.data.begin() + static_cast<std::ptrdiff_t>(r * 264);
    codes.insert(codes.end(), row, row + 256);
    scales.insert(scales.end(), row + 256, row + 264);
  }
  expect({{rows.name, StoredType::i8, {6, 256}, codes},
          {"blk.0.engram_embd.scale", StoredType::i8, {6, 8}, scales}},
         true, 6, 256, Encoding::mxfp8, numbers);
  const BlockMatrix q8(Encoding::q8_0, 6, 8, 3);
  expect({{rows.name, StoredType::q8_0, {6, 256}, q8.data}}, true, 6, 256, Encoding::q8_0,
         [&](std::int64_t r, std::int64_t c) { return q8.at(r, c); });
}

// A row is read alone, so it must hold its scales.
TEST_F(Encodings, TablesWhoseRowsShareScalesAreRefused) {
  role_ = Role::engram_table;
  kind_ = SlotKind::row_scaled_table;
  official_ = "layers.0.engram.embed.weight";
  const std::string said =
      refusal({{official_, StoredType::f8_e4m3, {64, 256}, std::vector<std::byte>(64 * 256)},
               {"layers.0.engram.embed.scale", StoredType::f8_e8m0, {2, 8}, std::vector<std::byte>(16)}},
              false, 64, 256);
  EXPECT_EQ(said,
            file_ +
                ": tensor layers.0.engram.embed.scale: scale is F8_E8M0 [2, 8], must be [64, 8] for 1x32 "
                "blocks of F8_E4M3 [64, 256]");
}

TEST_F(Encodings, TypesOfKnownSizeOnlyAreRefused) {
  const std::string said = refusal(
      {{"blk.0.attn_q_b.weight", StoredType::q4_1, {2, 64}, std::vector<std::byte>(80)}}, true, 2, 64);
  EXPECT_EQ(said, file_ + ": tensor blk.0.attn_q_b.weight: query up may not be stored as Q4_1");
}

}  // namespace
}  // namespace manyspan
