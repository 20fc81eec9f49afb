// trial_experts — for tests: a call of experts over matrices of any encodings, of which rows choose unevenly.
//
// Gates and ups are of order one whatever the matrices are, since x8 is scaled to them.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/agreement.h"
#include "kernels/round/round.h"

namespace manyspan::kernels {

// The numbers of `count` matrices as F32.
inline Matrix as_f32(const Matrix& plain, std::int32_t count = 1) {
  Matrix m;
  m.w = plain.w, m.w.encoding = Encoding::f32;
  m.w.next_codes = code_bytes(m.w), m.w.next_scales = 0;
  m.codes.resize(static_cast<std::size_t>(m.w.next_codes * count));
  std::vector<float> row(static_cast<std::size_t>(m.w.cols));
  std::byte* to = m.codes.data();
  for (std::int32_t e = 0; e < count; ++e) {
    for (std::int32_t n = 0; n < m.w.rows; ++n, to += row.size() * sizeof(float)) {
      values(nth(plain.w, e), n, 0, m.w.cols, row.data());
      std::memcpy(to, row.data(), row.size() * sizeof(float));
    }
  }
  m.point();
  return m;
}

struct ExpertsShape {
  std::int32_t experts, held, chosen, width, inner;  // of `experts`, the first `held` have matrices
};

// Encodings of the chosen experts' matrices and of the shared one's; unlike ones for gate and up keep these apart.
struct ExpertsEncodings {
  Encoding gate, up, down;
  Encoding shared = Encoding::fp8_block32, shared_up = shared;
};

struct ExpertsCase {
  ExpertsShape shape;
  TrialBatch batch;
  Matrix gate_up, up, down, shared_gate_up, shared_up, shared_down;  // up: no rows where it is in gate_up
  std::vector<Bf16> x8;
  std::vector<std::int32_t> place, expert, plan;
  std::vector<float> weight;
  float limit = 3.0f;

  ExpertsCase(Chance& chance, std::int64_t rows, const ExpertsShape& s, const ExpertsEncodings& e)
      : shape(s), batch({{0, {5}, 0, static_cast<std::int32_t>(rows)}}), place(s.experts, 0) {
    const bool paired = e.gate == e.up, shared_paired = e.shared == e.shared_up;
    gate_up = plain_matrix(chance, e.gate, paired ? 2 * s.inner : s.inner, s.width, s.held);
    if (!paired) up = plain_matrix(chance, e.up, s.inner, s.width, s.held);
    down = plain_matrix(chance, e.down, s.width, s.inner, s.held);
    shared_gate_up = plain_matrix(chance, e.shared, shared_paired ? 2 * s.inner : s.inner, s.width);
    if (!shared_paired) shared_up = plain_matrix(chance, e.shared_up, s.inner, s.width);
    shared_down = plain_matrix(chance, e.shared, s.width, s.inner);
    fit_x8(chance);
    for (std::int32_t i = 0; i < s.experts; ++i) place[i] = i * 7 % s.held;  // several share one, in disorder
    choose(chance);
    plan_for(0, batch.used());
  }

  // x8 of such a size that gates are of order one.
  void fit_x8(Chance& chance) {
    const std::int32_t d = shape.width;
    x8 = chance.bf16(batch.rows() * d, 0.02f, 1.0f);
    const float by = 1 / (size_of(gate_up) * std::sqrt(static_cast<float>(d)));
    for (Bf16& x : x8) x = to_bf16(by * to_float(x));
    for (std::int64_t t = 0; t < batch.used(); ++t) grid8_row(x8.data() + t * d, d);
  }

  // The same call with F32 in place of every encoding.
  ExpertsCase decoded() const {
    ExpertsCase c = *this;
    c.gate_up = as_f32(gate_up, shape.held), c.down = as_f32(down, shape.held);
    c.shared_gate_up = as_f32(shared_gate_up), c.shared_down = as_f32(shared_down);
    if (up.w.rows != 0) c.up = as_f32(up, shape.held);
    if (shared_up.w.rows != 0) c.shared_up = as_f32(shared_up);
    return c;
  }

  void plan_for(std::int64_t first, std::int64_t rows) {
    const std::int32_t k = shape.chosen;
    plan.assign(shape.experts + 1, 0);
    for (std::int32_t e = 0; e < shape.experts; ++e) {
      for (std::int64_t pair = 0; pair < rows * k; ++pair) {
        if (expert[first * k + pair] == e) plan.push_back(static_cast<std::int32_t>(pair));
      }
      plan[e + 1] = static_cast<std::int32_t>(plan.size()) - shape.experts - 1;
    }
  }

  std::vector<Bf16> run(const Table& table, const BatchView& view, std::int64_t first = 0) {
    const std::int32_t d = shape.width, k = shape.chosen, held = shape.held;
    const bool paired = up.w.rows == 0, shared_paired = shared_up.w.rows == 0;
    const Matrix gu = arranged_for(table, gate_up, paired, held), dn = arranged_for(table, down, false, held);
    const Matrix sgu = arranged_for(table, shared_gate_up, shared_paired),
                 sdn = arranged_for(table, shared_down);
    const Matrix u = paired ? Matrix() : arranged_for(table, up, false, held);
    const Matrix su = shared_paired ? Matrix() : arranged_for(table, shared_up);
    std::vector<Bf16> y(view.rows * d, kPoison16);
    Experts p = {};
    p.x8 = {x8.data() + first * d, view.rows, d, d}, p.batch = view, p.expert_count = shape.experts;
    p.routes = {expert.data() + first * k, weight.data() + first * k, plan.data(), k};
    p.gate_up = gu.w, p.up = u.w, p.down = dn.w;
    p.shared_gate_up = sgu.w, p.shared_up = su.w, p.shared_down = sdn.w;
    p.place = place.data(), p.limit = limit, p.y = rows_of(y, d);
    Trial().run(table.experts, p);
    return y;
  }

 private:
  // Of the numbers of some rows, the root of their mean square.
  static float size_of(const Matrix& m) {
    std::vector<float> row(static_cast<std::size_t>(m.w.cols));
    double sum = 0;
    constexpr std::int32_t kSome = 8;
    for (std::int32_t n = 0; n < kSome; ++n) {
      values(m.w, n, 0, m.w.cols, row.data());
      for (const float w : row) sum += static_cast<double>(w) * w;
    }
    return static_cast<float>(std::sqrt(sum / kSome / m.w.cols));
  }

  void choose(Chance& chance) {
    const std::int32_t k = shape.chosen, many = shape.experts;
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
  }
};

// Every table against the reference, within the tolerance of experts.h; rows past the batch stay as they were.
inline void expect_agreement(ExpertsCase& c) {
  const std::int64_t d = c.shape.width;
  const std::vector<Bf16> right = c.run(kReference, c.batch.view());
  each_table([&](const Table& table) {
    const std::vector<Bf16> y = c.run(table, c.batch.view());
    for (std::int64_t t = 0; t < c.batch.used(); ++t) {
      ASSERT_LE(relative_error(y.data() + t * d, right.data() + t * d, d), kExpertsTolerance) << "row " << t;
    }
    for (std::int64_t i = c.batch.used() * d; i < c.batch.rows() * d; ++i) ASSERT_TRUE(poisoned(y[i]));
  });
}

// Every table against itself: rows of a long batch, alone and in smaller batches.
inline void expect_rows_alone(ExpertsCase& c) {
  const auto all_rows = static_cast<std::int32_t>(c.batch.used()), d = c.shape.width;
  each_table([&](const Table& table) {
    c.plan_for(0, all_rows);
    const std::vector<Bf16> all = c.run(table, c.batch.view());
    const std::int32_t last = all_rows - 1, half = all_rows / 2;
    for (const auto& [first, rows] : {std::pair{0, 1}, {17, 1}, {30, 5}, {50, half}, {last, 1}}) {
      if (first + rows > all_rows) continue;
      TrialBatch part({{0, {5 + first}, 0, rows}});
      c.plan_for(first, rows);
      const std::vector<Bf16> y = c.run(table, part.view(), first);
      for (std::int64_t i = 0; i < std::int64_t{rows} * d; ++i)
        ASSERT_EQ(y[i].bits, all[std::int64_t{first} * d + i].bits) << first;
    }
  });
}

}  // namespace manyspan::kernels
