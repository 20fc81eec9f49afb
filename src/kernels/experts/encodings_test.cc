// Experts of every encoding, by every table: against the reference, against the same numbers as F32, and rows alone.
#include "kernels/trial_experts.h"

namespace manyspan::kernels {
namespace {

constexpr ExpertsShape kToy = {5, 3, 2, 512, 256};

// Whole blocks in both widths; the shared expert has another encoding than the chosen ones.
ExpertsEncodings all_of(Encoding e) {
  return {e, e, e, e == Encoding::bf16 ? Encoding::q8_0 : Encoding::bf16};
}

// Usual files: the down projection finer than gate and up, or gate and up unlike each other.
constexpr ExpertsEncodings kMixes[] = {
    {Encoding::iq2_xxs, Encoding::iq2_xxs, Encoding::q2_k, Encoding::q8_0},
    {Encoding::q2_k, Encoding::q2_k, Encoding::q3_k, Encoding::q5_k, Encoding::q6_k},
    {Encoding::iq3_xxs, Encoding::iq3_s, Encoding::q4_k, Encoding::q6_k},
    {Encoding::q4_k, Encoding::q8_0, Encoding::q6_k, Encoding::f16, Encoding::bf16},
    {Encoding::mxfp4_ggml, Encoding::mxfp4, Encoding::mxfp8, Encoding::fp8_block32},
    {Encoding::nvfp4, Encoding::nvfp4_ggml, Encoding::nvfp4, Encoding::fp8_block128_f32},
    {Encoding::fp8_block32, Encoding::bf16, Encoding::fp8_block128, Encoding::q4_0, Encoding::fp8_block32},
};

std::string shown(const ExpertsEncodings& e) {
  std::string text;
  for (const Encoding one : {e.gate, e.up, e.down, e.shared, e.shared_up})
    text += std::string(name(one)) + ", ";
  return text;
}

template <class Body>
void each_kind(Body&& body) {
  std::vector<ExpertsEncodings> kinds(std::begin(kMixes), std::end(kMixes));
  for (const Encoding e : every_encoding()) kinds.push_back(all_of(e));
  for (const ExpertsEncodings& e : kinds) {
    SCOPED_TRACE(shown(e));
    body(e);
  }
}

// What is held as F32 gives the same bits: nothing but the weights' worth counts.
void expect_as_f32(ExpertsCase& c) {
  ExpertsCase wide = c.decoded();
  const auto same = [&](const Table& table) {
    EXPECT_TRUE(same_bits(c.run(table, c.batch.view()), wide.run(table, c.batch.view())));
  };
  same(kReference);
  each_table(same);
}

TEST(ExpertsEncodings, EveryTableAgreesWithTheReference) {
  each_kind([](const ExpertsEncodings& e) {
    for (const std::int64_t rows : {1, 9}) {
      Chance chance(rows);
      ExpertsCase c(chance, rows, kToy, e);
      expect_agreement(c);
    }
  });
}

TEST(ExpertsEncodingsSlow, EveryOneGivesTheBitsOfTheSameNumbersAsF32) {
  each_kind([](const ExpertsEncodings& e) {
    for (const std::int64_t rows : {1, 2, 30}) {
      Chance chance(rows + 50);
      ExpertsCase c(chance, rows, kToy, e);
      expect_as_f32(c);
    }
  });
}

TEST(ExpertsEncodings, RowsTogetherAreAsRowsAlone) {
  each_kind([](const ExpertsEncodings& e) {
    Chance chance(6);
    ExpertsCase c(chance, 60, {4, 4, 2, 256, 256}, e);
    expect_rows_alone(c);
  });
}

// Each width of the released model, with the other one short.
TEST(ExpertsEncodingsSlow, RealWidthsAgreeAndGiveTheBitsOfF32) {
  for (const Encoding e : every_encoding()) {
    SCOPED_TRACE(std::string(name(e)));
    for (const ExpertsShape& shape : {ExpertsShape{3, 1, 1, 5120, 256}, {3, 1, 1, 256, 2304}}) {
      Chance chance(shape.width);
      ExpertsCase c(chance, 1, shape, {e, e, e, e});
      expect_agreement(c);
      expect_as_f32(c);
    }
  }
}

TEST(ExpertsEncodingsSlow, TheReleasedModelsShapeAgrees) {
  for (const Encoding e : {Encoding::q8_0, Encoding::q2_k, Encoding::q4_k, Encoding::iq2_xxs}) {
    SCOPED_TRACE(std::string(name(e)));
    Chance chance(7);
    ExpertsCase c(chance, 2, {384, 1, 6, 5120, 2304}, {e, e, e, Encoding::q8_0});
    expect_agreement(c);
  }
}

// The usual mixes in little, with every test run.
TEST(ExpertsEncodings, UsualMixesGiveTheBitsOfTheSameNumbersAsF32) {
  for (const ExpertsEncodings& e : kMixes) {
    SCOPED_TRACE(shown(e));
    Chance chance(9);
    ExpertsCase c(chance, 5, {2, 2, 1, 256, 256}, e);
    expect_as_f32(c);
  }
}

}  // namespace
}  // namespace manyspan::kernels
