// linear — up to eight products y = x·Wᵀ in one call, norm on the way in, grid on the way out.
//
//   x̂ = x, or bf16(norm(x)·gain) when `norm` is given; then act8(x̂) when `grid_in`
//   y_p[t, n] = Σ_k x̂_p[t, k]·W_p[n, k];  act8(y) when `grid_out`
//
// It never quantises of itself: whether a product's input lies on the FP8 grid is the slot's affair, and the
// producer of a row puts it there (interfaces.md A3). The grouped wo_a is eight parts whose x are column
// ranges of one matrix.
//
// Shapes     part: x [T, K] bf16 · W [N, K] any kernel encoding · y [T, N] bf16 or f32
// Requires   with `norm` or grid_in all parts have the same x; grid_out: N a multiple of 32 and y bf16
// Numerics   reference: dot in double → f32 (→ bf16). Others: K is cut into reduction_parts(K) ranges of
//            whole 32-blocks, each summed ascending from zero in f32, the parts added ascending; how many
//            rows there are never changes how one is summed
// Spec       model.md 4.6; interfaces.md A4
#pragma once

#include "kernels/op.h"
#include "tensor/bf16.h"

namespace manyspan::kernels {

// One of the two is set.
struct Out {
  Rows<Bf16> bf16;
  Rows<float> f32;
};

struct Linear {
  static constexpr int kMaxParts = 8;
  struct Part {
    Rows<const Bf16> x;
    Weight w;
    Out y;
  };
  Part parts[kMaxParts];
  std::int32_t count;
  const std::int32_t* used;
  const Bf16* norm;  // gain [K], or null
  float eps;
  bool grid_in, grid_out;
  Work work;

  template <class See>
  void views(See& see) {
    for (std::int32_t p = 0; p < count; ++p) {
      see.in({"parts", p, "x"}, parts[p].x), see.in({"parts", p, "w"}, parts[p].w);
      see.out({"parts", p, "y"}, parts[p].y.bf16), see.out({"parts", p, "y"}, parts[p].y.f32);
    }
    see.look("used", used, 1), see.in("norm", norm, norm == nullptr ? 0 : parts[0].w.cols), see.work(work);
  }
};
static_assert(kIsParams<Linear>);

// A function of the model's shape alone, never of rows or machine.
constexpr int reduction_parts(std::int64_t k) { return k >= 1024 ? 8 : 1; }

// First column of part p: whole 32-blocks, as even as they go.
constexpr std::int64_t part_begin(std::int64_t k, int p) {
  const std::int64_t blocks = (k + 31) / 32;
  const std::int64_t at = blocks * p / reduction_parts(k) * 32;
  return at < k ? at : k;
}

// |y - reference| ≤ kLinearTolerance · √(Σ (x_k w_nk)²), before bf16, plus one bf16 step after it.
inline constexpr float kLinearTolerance = 4e-6f;

}  // namespace manyspan::kernels
