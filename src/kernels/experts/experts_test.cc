#include "kernels/agreement.h"
#include "kernels/round/round.h"

namespace manyspan::kernels {
namespace {

struct ExpertsCase {
  std::int32_t experts, held, k, d, inner;
  TrialBatch batch;
  Matrix gate_up, down, shared_gate_up, shared_down;
  std::vector<Bf16> x8;
  std::vector<std::int32_t> place, expert, plan;
  std::vector<float> weight;

  // `many` experts of which the first few hold matrices; rows choose among those only, unevenly.
  ExpertsCase(Chance& chance, std::int64_t rows, std::int32_t many, std::int32_t few, std::int32_t chosen,
              std::int32_t width, std::int32_t deep)
      : experts(many),
        held(few),
        k(chosen),
        d(width),
        inner(deep),
        batch({{0, {5}, 0, static_cast<std::int32_t>(rows)}}),
        gate_up(plain_matrix(chance, Encoding::mxfp4, 2 * deep, width, few)),
        down(plain_matrix(chance, Encoding::mxfp4, width, deep, few)),
        shared_gate_up(plain_matrix(chance, Encoding::fp8_block32, 2 * deep, width)),
        shared_down(plain_matrix(chance, Encoding::fp8_block32, width, deep)),
        x8(chance.bf16(batch.rows() * width, 0.02f, 0.3f)),
        place(static_cast<std::size_t>(many), 0) {
    // Such scales that gates and ups are of order one, and differ.
    for (auto* m : {&gate_up, &shared_gate_up}) {
      for (std::byte& b : m->scales)
        b = std::byte(m == &gate_up ? 118 + chance.below(3) : 111 + chance.below(3));
    }
    for (std::int64_t t = 0; t < batch.used(); ++t) grid8_row(x8.data() + t * d, d);
    for (std::int32_t e = 0; e < many; ++e) place[e] = e * 7 % few;  // several share one, in disorder
    expert.resize(batch.rows() * k), weight.resize(batch.rows() * k);
    for (std::int64_t t = 0; t < batch.used(); ++t) {
      std::vector<std::int32_t> own;
      while (static_cast<std::int32_t>(own.size()) < k) {
        const std::int32_t e =
            chance.below(3) == 0 ? chance.below(many) : chance.below(std::min(many, k + 1));
        if (std::find(own.begin(), own.end(), e) == own.end()) own.push_back(e);
      }
      std::sort(own.begin(), own.end());
      for (std::int32_t j = 0; j < k; ++j) {
        expert[t * k + j] = own[j];
        weight[t * k + j] = 0.1f + 0.2f * static_cast<float>(chance.below(10));
      }
    }
    plan_for(0, batch.used());
  }

  void plan_for(std::int64_t first, std::int64_t rows) {
    plan.assign(experts + 1, 0);
    for (std::int32_t e = 0; e < experts; ++e) {
      for (std::int64_t pair = 0; pair < rows * k; ++pair) {
        if (expert[first * k + pair] == e) plan.push_back(static_cast<std::int32_t>(pair));
      }
      plan[e + 1] = static_cast<std::int32_t>(plan.size()) - experts - 1;
    }
  }

  std::vector<Bf16> run(const Table& table, const BatchView& view, std::int64_t first = 0) {
    const Matrix gu = arranged_for(table, gate_up, true, held), dn = arranged_for(table, down, false, held);
    const Matrix sgu = arranged_for(table, shared_gate_up, true), sdn = arranged_for(table, shared_down);
    std::vector<Bf16> y(view.rows * d, kPoison16);
    Experts p = {};
    p.x8 = {x8.data() + first * d, view.rows, d, d}, p.batch = view, p.expert_count = experts;
    p.routes = {expert.data() + first * k, weight.data() + first * k, plan.data(), k};
    p.gate_up = gu.w, p.down = dn.w, p.shared_gate_up = sgu.w, p.shared_down = sdn.w;
    p.place = place.data(), p.limit = 3.0f, p.y = rows_of(y, d);
    Trial().run(table.experts, p);
    return y;
  }
};

void expect_agreement(ExpertsCase& c) {
  const std::vector<Bf16> right = c.run(kReference, c.batch.view());
  each_table([&](const Table& table) {
    const std::vector<Bf16> y = c.run(table, c.batch.view());
    for (std::int64_t t = 0; t < c.batch.used(); ++t) {
      ASSERT_LE(relative_error(y.data() + t * c.d, right.data() + t * c.d, c.d), kExpertsTolerance)
          << "row " << t;
    }
    for (std::int64_t i = c.batch.used() * c.d; i < c.batch.rows() * c.d; ++i) ASSERT_TRUE(poisoned(y[i]));
  });
}

TEST(Experts, EveryTableAgreesWithTheReferenceAtToyShapes) {
  for (const std::int64_t rows : {1, 3, 40, 130}) {
    Chance chance(rows);
    ExpertsCase c(chance, rows, 9, 4, 2, 96, 64);
    expect_agreement(c);
  }
}

TEST(Experts, EveryTableAgreesWithTheReferenceAtRealWidths) {
  Chance chance(1);
  ExpertsCase c(chance, 1, 384, 2, 6, 5120, 2304);
  expect_agreement(c);
}

TEST(Experts, RowsTogetherAreAsRowsAlone) {
  Chance chance(6);
  ExpertsCase c(chance, 120, 8, 8, 2, 128, 64);
  each_table([&](const Table& table) {
    c.plan_for(0, 120);
    const std::vector<Bf16> all = c.run(table, c.batch.view());
    for (const auto& [first, rows] : {std::pair{0, 1}, {17, 1}, {30, 5}, {50, 70}, {119, 1}}) {
      TrialBatch part({{0, {5 + first}, 0, rows}});
      c.plan_for(first, rows);
      const std::vector<Bf16> y = c.run(table, part.view(), first);
      for (std::int64_t i = 0; i < rows * 128; ++i) ASSERT_EQ(y[i].bits, all[first * 128 + i].bits) << first;
    }
  });
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
