#include "kernels/trial_experts.h"

namespace manyspan::kernels {
namespace {

constexpr ExpertsEncodings kReleased = {Encoding::mxfp4, Encoding::mxfp4, Encoding::mxfp4};

TEST(Experts, EveryTableAgreesWithTheReferenceAtToyShapes) {
  for (const std::int64_t rows : {1, 3, 40, 130}) {
    Chance chance(rows);
    ExpertsCase c(chance, rows, {9, 4, 2, 96, 64}, kReleased);
    expect_agreement(c);
  }
}

TEST(Experts, EveryTableAgreesWithTheReferenceAtRealWidths) {
  Chance chance(1);
  ExpertsCase c(chance, 1, {384, 2, 6, 5120, 2304}, kReleased);
  expect_agreement(c);
}

TEST(Experts, RowsTogetherAreAsRowsAlone) {
  Chance chance(6);
  ExpertsCase c(chance, 120, {8, 8, 2, 128, 64}, kReleased);
  expect_rows_alone(c);
}

TEST(Route, EveryTableChoosesAsTheReferenceDoes) {
  for (const auto& [experts, k, rows] : {std::tuple{8, 2, 50}, {384, 6, 40}, {12, 3, 1}}) {
    Chance chance(experts);
    TrialBatch batch({{0, {5}, 0, rows}});
    batch.marks()[0] = kMarkImageSpan;
    std::vector<float> logits = chance.f32(batch.rows() * experts, 0, 3);
    for (std::int32_t e = 0; e < experts; e += 3) logits[e] = logits[0];  // ties
    const std::vector<float> bias = chance.f32(experts, 0.3f, 0.2f), vl = chance.f32(experts, 0, 1);
    struct Out {
      std::vector<std::int32_t> expert, plan;
      std::vector<float> weight;
    };
    const auto run = [&, experts = experts, k = k](const Table& table) {
      Out o = {std::vector(batch.rows() * k, -5), std::vector(experts + 1 + batch.rows() * k, -5),
               std::vector(batch.rows() * k, -5.0f)};
      Route p = {};
      p.logits = rows_of(std::as_const(logits), experts), p.bias = bias.data(), p.bias_vl = vl.data();
      p.batch = batch.view(), p.temperature = 1, p.route_scale = 1.5f, p.normalise = true;
      p.out = {o.expert.data(), o.weight.data(), o.plan.data(), k};
      Trial().run(table.route, p);
      return o;
    };
    const Out right = run(kReference);
    each_table([&](const Table& table) {
      const Out o = run(table);
      EXPECT_EQ(o.expert, right.expert);
      EXPECT_EQ(o.plan, right.plan);
      for (std::size_t i = 0; i < o.weight.size(); ++i) {
        EXPECT_NEAR(o.weight[i], right.weight[i], kRouteTolerance * std::fabs(right.weight[i]));
      }
    });
  }
}

}  // namespace
}  // namespace manyspan::kernels
